//! The service that people leave running: under a real user manager of systemd, and as launchd would run it.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::{Command, Stdio};

use memoryd_proto::Ping;
use memoryd_tests::{Home, UserManager, demanded, executable, run};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

const LESSON: &str = "Retry a failed download with exponential backoff";

fn signal(pid: u32, signal: Signal) {
    kill_process(Pid::from_raw(i32::try_from(pid).unwrap()).unwrap(), signal).unwrap();
}

/// Runs a verb that must succeed.
fn ctl(manager: &UserManager, line: &str) -> String {
    let (done, said) = manager.memoryctl(&line.split(' ').collect::<Vec<_>>());
    assert!(done, "memoryctl {line}: {said}\n{}", manager.log());
    said
}

fn recalls(manager: &UserManager) {
    let asked = ["recall", "--agent", "finder", "--no-project", "retry the failed download"];
    let (done, said) = manager.memoryctl(&asked);
    assert!(done && said.contains(LESSON), "{said}");
}

fn remember(manager: &UserManager) {
    let lesson =
        ["remember", "--agent", "finder", "--category", "error_handling", "--confidence", "0.8", LESSON];
    let (done, said) = manager.memoryctl(&lesson);
    assert!(done, "{said}");
}

fn status(manager: &UserManager) -> Value {
    serde_json::from_str(&ctl(manager, "service status --json")).unwrap()
}

#[test]
fn a_service_is_installed_survives_what_befalls_it_and_is_removed_without_its_memory() {
    let home = Home::new();
    let units = home.folder(".config/systemd/user");
    fs::create_dir(units.join("memoryd.service.d")).unwrap();
    fs::write(units.join("memoryd.service.d/patience.conf"), "[Service]\nWatchdogSec=5\n").unwrap();
    let Some(manager) = UserManager::start(&home) else { return };

    // One that was started by hand makes way.
    ctl(&manager, "start");
    let said = ctl(&manager, "service install");
    assert!(said.contains("was installed as a service, and runs"), "{said}");
    assert!(said.contains("loginctl enable-linger tester"), "{said}");
    let first = status(&manager);
    assert_eq!((&first["running"], &first["at_login"]), (&true.into(), &true.into()), "{first}");
    assert_eq!(first["pid"], manager.pid());
    assert!(manager.property("StatusText").contains("Answers at"));
    remember(&manager);
    recalls(&manager);

    // Again changes nothing, and interrupts nobody.
    let said = ctl(&manager, "service install");
    assert!(said.contains("is installed as a service, and runs") && !said.contains("written"), "{said}");
    assert_eq!(status(&manager), first);

    signal(manager.pid(), Signal::KILL);
    manager.greeted();
    recalls(&manager);
    let killed = status(&manager);
    assert_eq!(killed["restarts"], 1, "{killed}");

    // It hangs, and its socket still takes connections: only the watchdog can tell.
    signal(manager.pid(), Signal::STOP);
    manager.greeted();
    recalls(&manager);
    let hung = status(&manager);
    assert_eq!(hung["restarts"], 2, "{hung}");
    assert_ne!(hung["pid"], killed["pid"]);

    ctl(&manager, "service restart");
    recalls(&manager);
    let renewed = status(&manager);
    assert_ne!(renewed["pid"], hung["pid"]);
    let said = ctl(&manager, "restart");
    assert_eq!(said.trim(), format!("memoryd restarted, process {}", manager.pid()), "by its manager");
    assert_ne!(status(&manager)["pid"], renewed["pid"]);
    ctl(&manager, "service stop");
    let (done, said) = manager.memoryctl(&["ping"]);
    assert!(!done && said.contains("memoryctl start"), "a request does not start it: {said}");
    ctl(&manager, "service start");
    recalls(&manager);
    let (_, said) = manager.memoryctl(&["service", "logs"]);
    assert!(said.contains("ready") || said.contains("memoryd.log"), "{said}");

    let said = ctl(&manager, "service uninstall");
    let data = home.path().join(".local/share/memoryd");
    assert!(said.contains(&format!("Memory stays in {}", data.display())), "{said}");
    assert!(data.join("memory.db").exists());
    assert!(!units.join("memoryd.service").exists() && !units.join("memoryd.socket").exists());
    assert!(ctl(&manager, "service uninstall").contains("is not installed"));
    let (done, said) = manager.memoryctl(&["service", "start"]);
    assert!(!done && said.contains("memoryctl service install"), "{said}");
    ctl(&manager, "start");
    recalls(&manager);
    let said = ctl(&manager, "restart");
    assert!(said.contains("memoryd restarted"), "{said}");
    recalls(&manager);
    ctl(&manager, "stop");
}

#[test]
fn the_first_request_starts_the_daemon_and_its_socket_stays_when_it_ends() {
    let home = Home::new();
    let Some(manager) = UserManager::start(&home) else { return };
    ctl(&manager, "service install");
    remember(&manager);
    manager.systemctl(&["stop", "memoryd.service"]);
    assert_eq!(status(&manager)["running"], false);
    let file = fs::metadata(manager.socket()).unwrap();
    assert_eq!(file.mode() & 0o777, 0o600);

    manager.greeted();
    recalls(&manager);
    assert_eq!(status(&manager)["running"], true);
    let said = ctl(&manager, "stop");
    assert!(said.contains("memoryd stopped"), "{said}");
    assert_eq!(fs::metadata(manager.socket()).unwrap().ino(), file.ino(), "the file is the manager's");
    assert_eq!(fs::metadata(manager.socket()).unwrap().ctime(), file.ctime());
    manager.greeted();
    recalls(&manager);
}

/// What `memoryctl service install` would write, by file name.
fn files(home: &Home, manager: &str) -> Vec<(String, String)> {
    let (done, said) =
        run(home, "memoryctl", &["service", "install", "--manager", manager, "--dry-run", "--json"]);
    assert!(done, "{said}");
    let plan: Value = serde_json::from_str(&said).unwrap();
    let writes = plan["steps"].as_array().unwrap().iter().filter_map(|step| step.get("write"));
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    writes
        .map(|write| {
            let path = text(&write["path"]);
            assert!(path.starts_with(home.path().to_str().unwrap()) && !Path::new(&path).exists());
            (Path::new(&path).file_name().unwrap().to_str().unwrap().to_owned(), text(&write["text"]))
        })
        .collect()
}

#[test]
fn the_units_are_sound_and_give_away_little() {
    let home = Home::new();
    let folder = home.folder("units");
    let mut names = Vec::new();
    for (name, text) in files(&home, "systemd") {
        fs::write(folder.join(&name), text).unwrap();
        names.push(("--user", name));
    }
    assert_eq!(names.len(), 2);
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../systemd/system");
    let program = executable("memoryd");
    for entry in fs::read_dir(source).unwrap() {
        let entry = entry.unwrap();
        let text = fs::read_to_string(entry.path()).unwrap();
        let name = entry.file_name().into_string().unwrap();
        fs::write(folder.join(&name), text.replace("@MEMORYD@", program.to_str().unwrap())).unwrap();
        names.push(("--system", name));
    }
    assert_eq!(names.len(), 4);
    let analyze = |arguments: &[&str]| {
        let mut command = Command::new("systemd-analyze");
        command.args(arguments).current_dir(&folder).env("XDG_RUNTIME_DIR", &folder).stdin(Stdio::null());
        command.output().map(|output| (output.status.success(), [output.stdout, output.stderr].concat()))
    };
    if analyze(&["--version"]).is_err() {
        return demanded("systemd", "systemd-analyze is not here, which verifies units");
    }
    for (scope, name) in names {
        let file = format!("./{name}");
        let (sound, said) = analyze(&[scope, "verify", &file]).unwrap();
        let said = String::from_utf8(said).unwrap();
        assert!(sound && said.is_empty(), "{name}: {said}");
        if name.ends_with(".service") {
            let asked = [scope, "security", "--offline=true", "--threshold=25", &file];
            let (small, said) = analyze(&asked).unwrap();
            assert!(small, "{name}: {}", String::from_utf8_lossy(&said));
        }
    }
}

#[test]
fn launchd_runs_the_daemon_by_absolute_paths_and_with_its_own_bare_environment() {
    let home = Home::new();
    let [(name, plist)] = files(&home, "launchd").try_into().unwrap();
    assert_eq!(name, "org.memoryd.memoryd.plist");
    let file = home.path().join(name);
    fs::write(&file, plist).unwrap();
    let script = "import json, plistlib, sys; print(json.dumps(plistlib.load(open(sys.argv[1], 'rb'))))";
    let Ok(read) = Command::new("python3").args(["-c", script]).arg(&file).output() else {
        return demanded("python", "python3 is not here, which reads property lists");
    };
    let plist: Value = serde_json::from_slice(&read.stdout).unwrap();
    assert_eq!(plist["Label"], "org.memoryd.memoryd");
    assert_eq!(plist["KeepAlive"]["SuccessfulExit"], false);
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let words: Vec<String> = plist["ProgramArguments"].as_array().unwrap().iter().map(text).collect();
    let log = text(&plist["StandardErrorPath"]);
    assert_eq!(log, home.path().join("Library/Logs/memoryd/memoryd.log").to_str().unwrap());
    let environment: Vec<(String, String)> = plist["EnvironmentVariables"]
        .as_object()
        .unwrap()
        .iter()
        .map(|(name, value)| (name.clone(), text(value)))
        .collect();
    let paths = environment.iter().map(|(_, value)| value).chain(&words[..1]);
    let folder = text(&plist["WorkingDirectory"]);
    for path in paths.chain([&log, &folder, &text(&plist["StandardOutPath"])]) {
        assert!(Path::new(path).is_absolute(), "{path}");
    }

    fs::create_dir_all(Path::new(&log).parent().unwrap()).unwrap();
    let mut child = Command::new(&words[0])
        .args(&words[1..])
        .env_clear()
        .env("PATH", "/usr/bin:/bin:/usr/sbin:/sbin")
        .env("HOME", home.path())
        .envs(environment)
        .current_dir(folder)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut said = String::new();
    let mut errors = std::io::BufReader::new(child.stderr.take().unwrap());
    while !said.contains(": ready") {
        assert!(std::io::BufRead::read_line(&mut errors, &mut said).unwrap() > 0, "{said}");
    }
    home.client().call(Ping {}).unwrap();
    signal(child.id(), Signal::TERM);
    assert!(child.wait().unwrap().success(), "an end that launchd takes for a good one");
}

#[test]
fn without_a_service_manager_nothing_is_written_and_the_way_out_is_named() {
    let home = Home::new();
    let (done, said) = run(&home, "memoryctl", &["service", "install"]);
    assert!(!done && said.contains("No service manager") && said.contains("memoryctl start"), "{said}");
    assert!(!home.path().join(".config").exists());
    let (done, said) = run(&home, "memoryctl", &["service", "install", "--dry-run"]);
    assert!(done && said.contains("systemctl --user enable memoryd.socket memoryd.service"), "{said}");
    assert!(said.contains(&format!("ExecStart=\"{}\"", executable("memoryd").display())), "{said}");
    assert!(!home.path().join(".config").exists());
}
