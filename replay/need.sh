# Sourced by the run scripts: `need PACKAGE...` installs the Debian packages that are missing.
need() {
    local missing=() package sudo=
    for package in "$@"; do
        dpkg-query -W -f='${Status}\n' "$package" 2>/dev/null | grep -q 'ok installed' || missing+=("$package")
    done
    [ ${#missing[@]} -eq 0 ] && return
    echo "installing ${#missing[@]} packages, which takes a minute or two: ${missing[*]}" >&2
    if [ "$(id -u)" != 0 ]; then
        sudo=sudo
        command -v sudo >/dev/null || { echo "as root: apt-get install ${missing[*]}" >&2; exit 3; }
    fi
    export DEBIAN_FRONTEND=noninteractive
    [ -n "${packages_listed-}" ] || $sudo apt-get update -qq >&2
    packages_listed=yes
    $sudo apt-get install -y -qq --no-install-recommends "${missing[@]}" >&2
}
