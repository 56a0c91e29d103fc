# Sourced by the scripts beside it, in the clone's folder: makes .venv when it is missing or outdated.
# Needs Python 3.11 or newer and nothing else; PYTHON=/path/to/python chooses one.

say() { echo "$*" >&2; }

find_python() {
    local candidate seen=""
    for candidate in ${PYTHON:-python3 python3.13 python3.12 python3.11}; do
        seen="$seen $candidate ($("$candidate" -c 'import platform; print(platform.python_version())' 2>/dev/null || echo none))"
        if "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
            "$candidate" -c 'import ensurepip, venv' 2>/dev/null || {
                say "$candidate has no venv module. On Debian and Ubuntu: apt-get install python3-venv"
                return 3
            }
            command -v "$candidate"
            return
        fi
    done
    say "contramem needs Python 3.11 or newer. Found:$seen. Install it, or name one: PYTHON=/path/to/python $0"
    return 3
}

stamp() { # all that .venv depends on; console scripts hold their folder's path, hence pwd
    pwd
    cat requirements/dev.txt pyproject.toml
}

make_venv() {
    if [ -x .venv/bin/contramem ] && stamp | cmp -s - .venv/made-from; then return; fi
    local python
    python="$(find_python)"
    say "Making $PWD/.venv with $python ($("$python" -V)) ..."
    rm -f .venv/made-from
    "$python" -m venv --clear .venv
    local pip=(.venv/bin/python -m pip --quiet --disable-pip-version-check --no-input install)
    PIP_USER=0 "${pip[@]}" --require-hashes -r requirements/dev.txt
    PIP_USER=0 "${pip[@]}" --no-deps --no-build-isolation --no-index --editable .
    stamp >.venv/made-from
}

unset PYTHONPATH PYTHONHOME
