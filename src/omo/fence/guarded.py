"""Files that no plan may change, whatever its fence says: what runs by itself, what holds secrets."""

from __future__ import annotations

STATE = "omo's own state"
PROFILES = (
    *(".zshrc", ".bashrc", ".profile", ".bash_profile", ".bash_login", ".bash_logout", ".bash_aliases"),
    *(".zprofile", ".zshenv", ".zlogin", ".zlogout", ".kshrc", ".cshrc", ".tcshrc"),
    *("microsoft.powershell_profile.ps1", "microsoft.vscode_profile.ps1"),
)
SECRETS = (".ssh", ".aws", ".gnupg")
KEY_NAMES = ("id_rsa", "id_dsa", "id_ecdsa", "id_ed25519")
KEY_ENDS = (".pem", ".p12", ".pfx", ".key")
SHOWN_ENV = (".example", ".sample", ".template", ".dist")  # what an .env looks like, without the secrets
HOOKS = (".husky", ".githooks", ".lefthook")
HOOK_SETTINGS = (".pre-commit-config.yaml", ".pre-commit-config.yml", "lefthook.yml", "lefthook.yaml")
AGENTS = (".claude", ".codex", ".gemini", ".cursor")
AGENT_SETTINGS = (".mcp.json", ".claude.json")
SETTINGS_BELOW = ("settings", "hooks.", "config.toml", "mcp.json")
DEVICES = ("null", "stdout", "stderr", "stdin", "tty", "zero", "full", "fd", "shm")  # those that anybody may write to


def kind(path: str) -> str:
    """What makes this path one of them, empty for any other. By name alone, ignoring case as some disks do."""
    parts = [part for part in path.lower().replace("\\", "/").split("/") if part not in ("", ".")]
    if not parts:
        return ""
    name = parts[-1]
    pairs = list(zip(parts, [*parts[1:], ""], strict=True))
    if (".sisyphus", "cc-omo") in pairs:
        return STATE
    if ".git" in parts:
        return "git's own files, hooks and configuration"
    is_key = name.startswith(KEY_NAMES) and not name.endswith(".pub")
    if is_key or name.endswith(KEY_ENDS) or any(part in SECRETS for part in parts):
        return "keys and credentials"
    if name.endswith(".env") or (name.startswith(".env.") and not name.endswith(SHOWN_ENV)):
        return "an .env file"
    if name in PROFILES or (".config", "fish") in pairs:
        return "a shell profile"
    for directory, below in pairs:
        if name in AGENT_SETTINGS or (directory in AGENTS and below.startswith((*SETTINGS_BELOW, "hooks"))):
            return "an agent's settings or hooks"
    if name in HOOK_SETTINGS or any(part in HOOKS for part in parts):
        return "hook scripts and their settings"
    if path.startswith("/"):
        top, below = pairs[0]
        if (top == "etc" and below.startswith(("cron", "anacron"))) or parts[:3] == ["var", "spool", "cron"]:
            return "a crontab"
        if top == "dev" and below and below not in DEVICES:
            return "a device"
    return ""
