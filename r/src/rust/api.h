SEXP savvy_call_certify__ffi(SEXP c_arg__call, SEXP c_arg__given, SEXP c_arg__progress);
SEXP savvy_call_open__ffi(SEXP c_arg__path);
SEXP savvy_call_predict__ffi(SEXP c_arg__call, SEXP c_arg__given);
SEXP savvy_call_read_model__ffi(SEXP c_arg__text);
SEXP savvy_call_report__ffi(SEXP c_arg__call, SEXP c_arg__kept, SEXP c_arg__about);
SEXP savvy_call_select__ffi(SEXP c_arg__call, SEXP c_arg__progress);
SEXP savvy_call_stability__ffi(SEXP c_arg__call, SEXP c_arg__subsamples, SEXP c_arg__share, SEXP c_arg__seed);
SEXP savvy_call_subsets__ffi(SEXP c_arg__call, SEXP c_arg__most, SEXP c_arg__progress);
SEXP savvy_call_write_model__ffi(SEXP c_arg__path, SEXP c_arg__from);
