
// clang-format sorts includes unless SortIncludes: Never. However, the ordering
// does matter here. So, we need to disable clang-format for safety.

// clang-format off
#include <stdint.h>
#include <Rinternals.h>
#include <R_ext/Parse.h>
// clang-format on

#include "rust/api.h"

static uintptr_t TAGGED_POINTER_MASK = (uintptr_t)1;

SEXP handle_result(SEXP res_) {
    uintptr_t res = (uintptr_t)res_;

    // An error is indicated by tag.
    if ((res & TAGGED_POINTER_MASK) == 1) {
        // Remove tag
        SEXP res_aligned = (SEXP)(res & ~TAGGED_POINTER_MASK);

        // Currently, there are two types of error cases:
        //
        //   1. Error from Rust code
        //   2. Error from R's C API, which is caught by R_UnwindProtect()
        //
        if (TYPEOF(res_aligned) == CHARSXP) {
            // In case 1, the result is an error message that can be passed to
            // Rf_errorcall() directly.
            Rf_errorcall(R_NilValue, "%s", CHAR(res_aligned));
        } else {
            // In case 2, the result is the token to restart the
            // cleanup process on R's side.
            R_ContinueUnwind(res_aligned);
        }
    }

    return (SEXP)res;
}

SEXP savvy_call_certify__impl(SEXP c_arg__call, SEXP c_arg__given, SEXP c_arg__progress) {
    SEXP res = savvy_call_certify__ffi(c_arg__call, c_arg__given, c_arg__progress);
    return handle_result(res);
}

SEXP savvy_call_curves__impl(SEXP c_arg__baseline, SEXP c_arg__u, SEXP c_arg__what, SEXP c_arg__wanted) {
    SEXP res = savvy_call_curves__ffi(c_arg__baseline, c_arg__u, c_arg__what, c_arg__wanted);
    return handle_result(res);
}

SEXP savvy_call_misleads__impl(SEXP c_arg__value, SEXP c_arg__bound, SEXP c_arg__gap) {
    SEXP res = savvy_call_misleads__ffi(c_arg__value, c_arg__bound, c_arg__gap);
    return handle_result(res);
}

SEXP savvy_call_open__impl(SEXP c_arg__path) {
    SEXP res = savvy_call_open__ffi(c_arg__path);
    return handle_result(res);
}

SEXP savvy_call_percent__impl(SEXP c_arg__share) {
    SEXP res = savvy_call_percent__ffi(c_arg__share);
    return handle_result(res);
}

SEXP savvy_call_predict__impl(SEXP c_arg__call, SEXP c_arg__given) {
    SEXP res = savvy_call_predict__ffi(c_arg__call, c_arg__given);
    return handle_result(res);
}

SEXP savvy_call_read_model__impl(SEXP c_arg__text) {
    SEXP res = savvy_call_read_model__ffi(c_arg__text);
    return handle_result(res);
}

SEXP savvy_call_report__impl(SEXP c_arg__call, SEXP c_arg__kept, SEXP c_arg__about) {
    SEXP res = savvy_call_report__ffi(c_arg__call, c_arg__kept, c_arg__about);
    return handle_result(res);
}

SEXP savvy_call_select__impl(SEXP c_arg__call, SEXP c_arg__progress) {
    SEXP res = savvy_call_select__ffi(c_arg__call, c_arg__progress);
    return handle_result(res);
}

SEXP savvy_call_shown__impl(SEXP c_arg__value, SEXP c_arg__digits, SEXP c_arg__above) {
    SEXP res = savvy_call_shown__ffi(c_arg__value, c_arg__digits, c_arg__above);
    return handle_result(res);
}

SEXP savvy_call_stability__impl(SEXP c_arg__call, SEXP c_arg__subsamples, SEXP c_arg__share, SEXP c_arg__seed) {
    SEXP res = savvy_call_stability__ffi(c_arg__call, c_arg__subsamples, c_arg__share, c_arg__seed);
    return handle_result(res);
}

SEXP savvy_call_subsets__impl(SEXP c_arg__call, SEXP c_arg__most, SEXP c_arg__progress) {
    SEXP res = savvy_call_subsets__ffi(c_arg__call, c_arg__most, c_arg__progress);
    return handle_result(res);
}

SEXP savvy_call_survival__impl(SEXP c_arg__call, SEXP c_arg__u) {
    SEXP res = savvy_call_survival__ffi(c_arg__call, c_arg__u);
    return handle_result(res);
}

SEXP savvy_call_write_model__impl(SEXP c_arg__path, SEXP c_arg__from) {
    SEXP res = savvy_call_write_model__ffi(c_arg__path, c_arg__from);
    return handle_result(res);
}



static const R_CallMethodDef CallEntries[] = {
    {"savvy_call_certify__impl", (DL_FUNC) &savvy_call_certify__impl, 3},
    {"savvy_call_curves__impl", (DL_FUNC) &savvy_call_curves__impl, 4},
    {"savvy_call_misleads__impl", (DL_FUNC) &savvy_call_misleads__impl, 3},
    {"savvy_call_open__impl", (DL_FUNC) &savvy_call_open__impl, 1},
    {"savvy_call_percent__impl", (DL_FUNC) &savvy_call_percent__impl, 1},
    {"savvy_call_predict__impl", (DL_FUNC) &savvy_call_predict__impl, 2},
    {"savvy_call_read_model__impl", (DL_FUNC) &savvy_call_read_model__impl, 1},
    {"savvy_call_report__impl", (DL_FUNC) &savvy_call_report__impl, 3},
    {"savvy_call_select__impl", (DL_FUNC) &savvy_call_select__impl, 2},
    {"savvy_call_shown__impl", (DL_FUNC) &savvy_call_shown__impl, 3},
    {"savvy_call_stability__impl", (DL_FUNC) &savvy_call_stability__impl, 4},
    {"savvy_call_subsets__impl", (DL_FUNC) &savvy_call_subsets__impl, 3},
    {"savvy_call_survival__impl", (DL_FUNC) &savvy_call_survival__impl, 2},
    {"savvy_call_write_model__impl", (DL_FUNC) &savvy_call_write_model__impl, 2},

    {NULL, NULL, 0}
};

void R_init_bestset(DllInfo *dll) {
    R_registerRoutines(dll, NULL, CallEntries, NULL, NULL);
    R_useDynamicSymbols(dll, FALSE);

    // Functions for initialization, if any.

}
