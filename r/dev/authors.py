"""Authors and licences of the crates that the source package for R holds; run in the folder of its Cargo.toml."""

import json
import subprocess

found = json.loads(subprocess.check_output(["cargo", "metadata", "--format-version", "1", "--locked"]))
print("The Rust crates in src/rust/vendor.tar.xz, their authors and licences.\n")
for package in sorted(found["packages"], key=lambda p: (p["name"], p["version"])):
    if package["source"] is None:
        continue  # This project's own.
    authors = ", ".join(name.split(" <")[0] for name in package["authors"]) or f"the {package['name']} developers"
    licence = package["license"] or package["license_file"]
    print(f"{package['name']} {package['version']}\n  authors: {authors}\n  licence: {licence}\n")
print("Apache ECharts, in src/rust/crates/bestset-report/assets\n  authors: the Apache Software Foundation\n  licence: Apache-2.0")
