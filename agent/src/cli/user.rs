//! `pdm-agent user`: who may enter the pages and the API, and what they may do there.
//!
//! A password comes from the terminal or from a file, never from an argument, which every process
//! of the machine could read.

use std::io::{IsTerminal as _, Write};
use std::path::{Path, PathBuf};

use clap::Subcommand;
use pdm_service::clock::{Clock, SystemClock};
use pdm_service::exit::{Exit, Failure};
use pdm_service::http::callers::Role;
use pdm_service::secret::SecretSource;
use pdm_store::Store;
use pdm_web::accounts::{
    AccountStore as _, Act, User, UserChange, UserToken, ends_last_admin, new_secret, token_digest,
    user_name,
};
use pdm_web::password;
use pdm_web::plant::PlantError;

use super::failure;
use crate::service::open_store;
use crate::settings::AgentSettings;

/// Arguments of `user`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  pdm-agent user add kim --role technician
  pdm-agent user add scada --role technician --no-password
  pdm-agent user token scada --label line-1 --days 365
  pdm-agent user role kim admin
  pdm-agent user passwd kim --password-file /run/secrets/kim
  pdm-agent user disable kim
  pdm-agent user list

viewer reads; technician also acknowledges, shelves, reports work and uploads; admin also \
manages users and reads who did what. A changed password ends the user's sessions. The last \
administrator who can log in is neither disabled nor given another role without --even-last.

Without PDM_AGENT_CONFIG in the environment each wants --config FILE.

Exit codes: 0 done, 64 wrong arguments, 66 no such user or token, 69 store unavailable, 78 bad \
configuration")]
pub struct Args {
    #[command(subcommand)]
    what: What,
    /// The configuration
    #[arg(long, value_name = "FILE", env = "PDM_AGENT_CONFIG", global = true)]
    config: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Add a user; asks for the password
    Add {
        /// Name, by which the user's acts are signed
        #[arg(value_parser = user_name)]
        name: String,
        /// viewer, technician, admin
        #[arg(long)]
        role: Role,
        /// File with the password, one line
        #[arg(long, value_name = "FILE")]
        password_file: Option<PathBuf>,
        /// No password: the user is a program with tokens alone
        #[arg(long, conflicts_with = "password_file")]
        no_password: bool,
    },
    /// List users with their tokens
    List,
    /// Change what a user may do
    Role {
        /// The user
        #[arg(value_parser = user_name)]
        name: String,
        /// viewer, technician, admin
        role: Role,
        /// Also of the last administrator: then nobody manages users on the pages
        #[arg(long)]
        even_last: bool,
    },
    /// Change a password; ends the user's sessions
    Passwd {
        /// The user
        #[arg(value_parser = user_name)]
        name: String,
        /// File with the password, one line
        #[arg(long, value_name = "FILE")]
        password_file: Option<PathBuf>,
    },
    /// Let nothing of a user in any more
    Disable {
        /// The user
        #[arg(value_parser = user_name)]
        name: String,
        /// Also the last administrator: then nobody manages users on the pages
        #[arg(long)]
        even_last: bool,
    },
    /// Let a user in again
    Enable {
        /// The user
        #[arg(value_parser = user_name)]
        name: String,
    },
    /// Give a user a token for a program, shown once; or take one away
    Token {
        /// The user
        #[arg(value_parser = user_name)]
        name: String,
        /// Name of the token; one of the same name is replaced
        #[arg(long)]
        label: String,
        /// Days until the token ends; without, it does not end
        #[arg(long, value_parser = clap::value_parser!(u32).range(1..=3650))]
        days: Option<u32>,
        /// Take the token away
        #[arg(long, conflicts_with = "days")]
        revoke: bool,
    },
}

/// Runs the command.
///
/// # Errors
/// A [`Failure`] with its exit code.
pub fn run(args: &Args) -> anyhow::Result<Exit> {
    let config = args.config.as_deref().ok_or_else(|| {
        Failure::new(Exit::Usage, anyhow::anyhow!("--config FILE is missing (or PDM_AGENT_CONFIG)"))
    })?;
    let settings = AgentSettings::read(config).map_err(failure::config)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let lines = runtime.map_err(failure::runtime)?.block_on(async {
        let store = open_store(&settings.store).await.map_err(failure::store)?;
        let done = act(&store, &args.what).await;
        store.close().await;
        done
    })?;
    let mut out = pdm_service::command_line::stdout();
    for line in lines {
        writeln!(out, "{line}")?;
    }
    Ok(Exit::Ok)
}

fn away(error: PlantError) -> Failure {
    Failure::new(Exit::Unavailable, error)
}

async fn act(store: &Store, what: &What) -> Result<Vec<String>, Failure> {
    match what {
        What::List => list(store).await,
        What::Add { name, role, password_file, no_password } => {
            let password = match no_password {
                true => None,
                false => Some(hashed(name, password_file.as_deref())?),
            };
            let user = User {
                name: name.clone(),
                role: *role,
                password,
                provider: None,
                is_disabled: false,
                created_at: SystemClock.now(),
            };
            if !store.accounts().add_user(&user, false).await.map_err(away)? {
                let told = anyhow::anyhow!("there is a user {name} already");
                return Err(Failure::new(Exit::Usage, told));
            }
            note(store, "user add", format!("{name} {role}")).await?;
            Ok(vec![format!("{name}: {role}")])
        }
        What::Role { name, role, even_last } => {
            let new = UserChange::Role(*role);
            keeps_an_admin(store, name, &new, *even_last).await?;
            change(store, name, &new, format!("role {role}")).await
        }
        What::Passwd { name, password_file } => {
            let hash = hashed(name, password_file.as_deref())?;
            change(store, name, &UserChange::Password(hash), "password".to_owned()).await
        }
        What::Disable { name, even_last } => {
            let new = UserChange::Disabled(true);
            keeps_an_admin(store, name, &new, *even_last).await?;
            change(store, name, &new, "disabled".to_owned()).await
        }
        What::Enable { name } => {
            change(store, name, &UserChange::Disabled(false), "enabled".to_owned()).await
        }
        What::Token { name, label, days, revoke } => {
            token(store, name, label, *days, *revoke).await
        }
    }
}

async fn list(store: &Store) -> Result<Vec<String>, Failure> {
    let mut lines = Vec::new();
    for user in store.accounts().users().await.map_err(away)? {
        let way = if user.password.is_some() { "password" } else { "tokens alone" };
        let state = if user.is_disabled { "  disabled" } else { "" };
        lines
            .push(format!("{}  {}  {way}  since {}{state}", user.name, user.role, user.created_at));
        for token in store.accounts().tokens(&user.name).await.map_err(away)? {
            let end = token.expires_at.map_or("no end".to_owned(), |at| format!("until {at}"));
            lines.push(format!("  token {}  {end}", token.label));
        }
    }
    if lines.is_empty() {
        lines.push("there is no user".to_owned());
    }
    Ok(lines)
}

/// Refuses a change that takes away the last administrator, unless `even_last` is set.
async fn keeps_an_admin(
    store: &Store,
    name: &str,
    change: &UserChange,
    even_last: bool,
) -> Result<(), Failure> {
    let users = store.accounts().users().await.map_err(away)?;
    if even_last || !ends_last_admin(&users, name, change) {
        return Ok(());
    }
    let told = anyhow::anyhow!(
        "{name} is the last administrator who can log in: without one nobody enters /users, /audit \
         and /removal, from this machine neither. Make another one first (pdm-agent user add NAME \
         --role admin), or say --even-last"
    );
    Err(Failure::new(Exit::Usage, told))
}

async fn change(
    store: &Store,
    name: &str,
    change: &UserChange,
    told: String,
) -> Result<Vec<String>, Failure> {
    if !store.accounts().change_user(name, change).await.map_err(away)? {
        return Err(unknown(name));
    }
    note(store, "user change", format!("{name} {told}")).await?;
    Ok(vec![format!("{name}: {told}")])
}

async fn token(
    store: &Store,
    name: &str,
    label: &str,
    days: Option<u32>,
    revoke: bool,
) -> Result<Vec<String>, Failure> {
    let label =
        user_name(label).map_err(|told| Failure::new(Exit::Usage, anyhow::anyhow!(told)))?;
    if store.accounts().user(name).await.map_err(away)?.is_none() {
        return Err(unknown(name));
    }
    if revoke {
        if !store.accounts().revoke_token(name, &label).await.map_err(away)? {
            let told = anyhow::anyhow!("{name} has no token {label}");
            return Err(Failure::new(Exit::NoInput, told));
        }
        note(store, "token revoke", format!("{name} {label}")).await?;
        return Ok(vec![format!("{name}: the token {label} is gone")]);
    }
    let (now, value) = (SystemClock.now(), new_secret());
    let expires_at = days.map(|days| now.plus_seconds(f64::from(days) * 86_400.0));
    let token = UserToken { label: label.clone(), created_at: now, expires_at };
    store.accounts().put_token(name, &token_digest(&value), &token).await.map_err(away)?;
    note(store, "token add", format!("{name} {label}")).await?;
    Ok(vec![value])
}

fn unknown(name: &str) -> Failure {
    Failure::new(Exit::NoInput, anyhow::anyhow!("there is no user {name}"))
}

/// The hash of a password from a file or from the terminal.
fn hashed(name: &str, file: Option<&Path>) -> Result<String, Failure> {
    let usage = |error: password::PasswordError| Failure::new(Exit::Usage, error);
    let password = match file {
        Some(file) => {
            let secret = SecretSource::File(file.to_owned()).fetch();
            secret.map_err(|error| Failure::new(Exit::NoInput, error))?.expose().to_owned()
        }
        None => asked().map_err(|error| Failure::new(Exit::Usage, error))?,
    };
    password::check(name, &password).map_err(usage)?;
    password::hash(&password).map_err(usage)
}

/// Asks at the terminal, twice, without showing what is typed.
fn asked() -> anyhow::Result<String> {
    if !std::io::stdin().is_terminal() {
        anyhow::bail!("no terminal to ask for the password at: use --password-file FILE");
    }
    let terminal = console::Term::stderr();
    let ask = |what: &str| -> std::io::Result<String> {
        terminal.write_str(what)?;
        terminal.read_secure_line()
    };
    let first = ask("password: ")?;
    if ask("again: ")? != first {
        anyhow::bail!("the two passwords differ");
    }
    Ok(first)
}

async fn note(store: &Store, action: &str, what: String) -> Result<(), Failure> {
    let act = Act::new(SystemClock.now(), "cli", "cli", None, action, &what);
    store.accounts().note_act(&act).await.map_err(away)
}
