"""Files that no plan may change, whatever its fence says: what runs by itself, what holds secrets."""

from __future__ import annotations

PROFILES = (
    *(".zshrc", ".bashrc", ".profile", ".bash_profile", ".bash_login", ".bash_logout", ".bash_aliases"),
    *(".zprofile", ".zshenv", ".zlogin", ".zlogout", ".kshrc", ".cshrc", ".tcshrc"),
    *("microsoft.powershell_profile.ps1", "microsoft.vscode_profile.ps1"),
)
SECRETS = (".ssh", ".aws", ".gnupg")
HOOKS = (".husky", ".githooks", ".lefthook")
HOOK_SETTINGS = (".pre-commit-config.yaml", ".pre-commit-config.yml", *("lefthook.yml", "lefthook.yaml"))
AGENT_SETTINGS = (".mcp.json", ".claude.json")
AGENTS = (".claude", ".codex", ".gemini", ".cursor")
SHOWN_ENV = (".example", ".sample", ".template", ".dist")  # what an .env looks like, without the secrets
KEY_NAMES = ("id_rsa", "id_dsa", "id_ecdsa", "id_ed25519")
KEY_ENDS = (".pem", ".p12", ".pfx", ".key")
STATE = "omo's own state"
DEVICES = ("null", "stdout", "stderr", "stdin", "tty", "zero", "full", "fd", "shm")


def kind(path: str) -> str:
    """What makes this path one of them, empty for any other. By name alone, ignoring case as some disks do."""
    parts = [part for part in path.lower().replace("\\", "/").split("/") if part not in ("", ".")]
    for guarded, what in GUARDS:
        if parts and guarded(parts, path):
            return what
    return ""


def _is_git(parts: list[str], path: str) -> bool:
    return ".git" in parts


def _is_secret(parts: list[str], path: str) -> bool:
    if any(part in SECRETS for part in parts):
        return True
    name = parts[-1]
    return name.endswith(KEY_ENDS) or (name.startswith(KEY_NAMES) and not name.endswith(".pub"))


def _is_state(parts: list[str], path: str) -> bool:
    return _follows(parts, ".sisyphus", "cc-omo")


def _is_env(parts: list[str], path: str) -> bool:
    name = parts[-1]
    return name.endswith(".env") or (name.startswith(".env.") and not name.endswith(SHOWN_ENV))


def _is_profile(parts: list[str], path: str) -> bool:
    return parts[-1] in PROFILES or _follows(parts, ".config", "fish")


def _is_agent_setting(parts: list[str], path: str) -> bool:
    if parts[-1] in AGENT_SETTINGS:
        return True
    return any(_is_setting_of(parts[at + 1 :]) for at, part in enumerate(parts) if part in AGENTS)


def _is_setting_of(below: list[str]) -> bool:
    name = below[0] if below else ""
    return name == "hooks" or name.startswith(("settings", "hooks.", "config.toml", "mcp.json"))


def _is_hook(parts: list[str], path: str) -> bool:
    return parts[-1] in HOOK_SETTINGS or any(part in HOOKS for part in parts)


def _is_cron(parts: list[str], path: str) -> bool:
    is_etc = parts[0] == "etc" and len(parts) > 1 and parts[1].startswith(("cron", "anacron"))
    return path.startswith("/") and (is_etc or parts[:3] == ["var", "spool", "cron"])


def _is_device(parts: list[str], path: str) -> bool:
    return path.startswith("/") and parts[0] == "dev" and len(parts) > 1 and parts[1] not in DEVICES


def _follows(parts: list[str], first: str, second: str) -> bool:
    return any(parts[at : at + 2] == [first, second] for at in range(len(parts)))


GUARDS = (
    (_is_state, STATE),
    (_is_git, "git's own files, hooks and configuration"),
    (_is_secret, "keys and credentials"),
    (_is_env, "an .env file"),
    (_is_profile, "a shell profile"),
    (_is_agent_setting, "an agent's settings or hooks"),
    (_is_hook, "hook scripts and their settings"),
    (_is_cron, "a crontab"),
    (_is_device, "a device"),
)
