//! Files are replaced as a whole; devices, pipes and links stay what they are.

use bestset::file::{Place, place, replace, write};
use std::io::Write;
use std::path::Path;

fn names(folder: &Path) -> Vec<String> {
    let mut all: Vec<String> =
        std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    all.sort();
    all
}

#[test]
fn a_regular_file_is_replaced_as_a_whole_or_not_at_all() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a");
    write(&path, b"first").unwrap();
    write(&path, b"2nd").unwrap();
    assert_eq!(std::fs::read(&path).unwrap(), b"2nd");
    let failed = replace(&path, |part| {
        part.write_all(b"half")?;
        Err(std::io::Error::other("the disk is full"))
    });
    assert!(failed.unwrap_err().to_string().contains("the disk is full"));
    assert_eq!((std::fs::read(&path).unwrap(), names(folder.path())), (b"2nd".to_vec(), vec!["a".to_owned()]));
    assert!(write(&folder.path().join("no/such"), b"").is_err());
}

#[cfg(unix)]
mod unix {
    use super::*;
    use std::os::unix::fs::{FileTypeExt, PermissionsExt, symlink};

    #[test]
    fn permissions_of_the_old_file_are_kept() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        std::fs::write(&path, b"secret").unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
        write(&path, b"more").unwrap();
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    }

    #[test]
    fn links_stay_and_what_they_point_to_is_written() {
        let folder = tempfile::tempdir().unwrap();
        let (file, link, loose) = (folder.path().join("file"), folder.path().join("link"), folder.path().join("loose"));
        std::fs::write(&file, b"old").unwrap();
        symlink("file", &link).unwrap();
        write(&link, b"new").unwrap();
        assert!(std::fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(std::fs::read(&file).unwrap(), b"new");
        symlink("yet to come", &loose).unwrap();
        write(&loose, b"there").unwrap();
        assert!(std::fs::symlink_metadata(&loose).unwrap().is_symlink());
        assert_eq!(std::fs::read(folder.path().join("yet to come")).unwrap(), b"there");
        assert_eq!(names(folder.path()).len(), 4, "nothing is left over");
        let (ring, out) = (folder.path().join("ring"), folder.path().join("out"));
        symlink("ring", &ring).unwrap();
        assert!(write(&ring, b"").is_err());
        symlink("/dev/stdout", &out).unwrap();
        assert!(bestset::file::is_standard_output(&out) && !bestset::file::is_standard_output(&file));
    }

    #[test]
    fn devices_and_pipes_take_what_is_written() {
        write(Path::new("/dev/null"), b"gone").unwrap();
        assert_eq!(place(Path::new("/dev/stdout")), Place::Other("/dev/stdout".into()), "whatever it points to");
        assert!(std::fs::metadata("/dev/null").unwrap().file_type().is_char_device());
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        let made = std::process::Command::new("mkfifo").arg(&pipe).status();
        if !made.is_ok_and(|status| status.success()) {
            panic!("mkfifo is needed for this test");
        }
        assert_eq!(place(&pipe), Place::Other(pipe.clone()));
        let read = std::thread::spawn({
            let pipe = pipe.clone();
            move || std::fs::read(pipe).unwrap()
        });
        write(&pipe, b"through").unwrap();
        assert_eq!(read.join().unwrap(), b"through");
        assert!(std::fs::metadata(&pipe).unwrap().file_type().is_fifo());
    }
}
