# shellcheck shell=sh
# Sourced by launch.sh, bin/omo and environment.sh: where omo keeps the Python that runs its hooks and the environment of
# its commands, one for all hosts. A stranger's project can set variables for a session, in the client's settings of the
# project. So a place counts only if it is absolute and outside of the project. It starts no program, except where
# somebody works in their own home directory.

top1=// top2=// top3=// # the projects, which is what nothing lies in
tops_of=

# Sets $home, to nothing where no place counts, and $ignored to those that did not. OMO_ENV_HOME then says the same to all that is started.
use_home() {
    home='' ignored=''
    for candidate in "${OMO_ENV_HOME-}" "${XDG_CACHE_HOME:+$XDG_CACHE_HOME/omo}" "${HOME:+$HOME/.cache/omo}"; do
        if is_outside "$candidate"; then
            home=$real
            break
        fi
        ignored=$ignored${candidate:+ $candidate}
    done
    OMO_ENV_HOME=$home
    export OMO_ENV_HOME
}

# Is this place outside of where the shell is, and of the projects that the session and the host name? Sets $real.
is_outside() {
    case $1 in /*) ;; *) return 1 ;; esac
    [ -n "$tops_of" ] || find_tops
    find_real "$1"
    case $real in */..*) return 1 ;; esac
    is_inside || return 0
    [ -n "$is_narrow" ] || leave_users_home
    ! is_inside
}

is_inside() {
    case $real/ in "$top1"/* | "$top2"/* | "$top3"/*) return 0 ;; *) return 1 ;; esac
}

# Sets $real to where a path leads, also if its end is not there yet.
find_real() {
    from=$PWD place=$1 rest=
    case $place in /*) ;; *) place=$PWD/$place ;; esac
    until cd -P "$place" 2>/dev/null; do
        rest=/${place##*/}$rest
        place=${place%/*}
        place=${place:-/}
    done
    real=${PWD%/}$rest
    cd "$from" 2>/dev/null || cd / || return
}

find_tops() {
    tops_of=${PWD:-/} is_narrow=
    find_top "$tops_of"
    top1=$top
    [ -z "${OMO_PROJECT_DIR-}" ] || { find_top "$OMO_PROJECT_DIR" && top2=$top; }
    [ -z "${plugin_project-}" ] || { find_top "$plugin_project" && top3=$top; }
}

# Sets $top to the nearest ancestor that is a repository or has state of omo's, else to the directory itself.
find_top() {
    find_real "$1"
    top=$real
    while [ ! -e "$top/.git" ] && [ ! -d "$top/.sisyphus" ]; do
        case $top in
        /*/*) top=${top%/*} ;;
        *)
            top=${real:-/}
            return
            ;;
        esac
    done
}

# A repository around the user's own home directory is the user's, and so is that home: only the directory itself is a
# project then. Not $HOME, which a project can set too.
leave_users_home() {
    is_narrow=yes
    inside=$real
    own=$(PATH=/usr/bin:/bin:/run/current-system/sw/bin && id -un 2>/dev/null)
    case $own in '' | *[!a-zA-Z0-9._-]*) return ;; esac
    eval "find_real ~$own"
    own=$real
    has_own "$top1" && find_real "$tops_of" && top1=$real && has_own "$top1" && top1=//
    has_own "$top2" && find_real "$OMO_PROJECT_DIR" && top2=$real && has_own "$top2" && top2=//
    has_own "$top3" && find_real "$plugin_project" && top3=$real && has_own "$top3" && top3=//
    real=$inside
}

has_own() {
    case $own/ in "$1"/*) return 0 ;; *) return 1 ;; esac
}
