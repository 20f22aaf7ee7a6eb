//! A certificate authority for one test, made with openssl: valid and expired certificates, and
//! those of another authority.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use tempfile::TempDir;

use crate::needs::program;

/// Two authorities (`ca.pem`, `other-ca.pem`) and the files that the first has signed.
#[derive(Debug)]
pub struct Authority {
    openssl: PathBuf,
    folder: TempDir,
}

impl Authority {
    /// Makes the authorities, or notes that openssl is not installed.
    ///
    /// # Panics
    /// If openssl is installed but fails.
    pub fn found(test: &str) -> Option<Self> {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let authority = Self { openssl: program(test, "openssl")?, folder };
        for ca in ["ca", "other-ca"] {
            authority.openssl(&format!(
                "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 \
                 -subj /CN={ca} -keyout {ca}.key -out {ca}.pem"
            ));
        }
        let san = "subjectAltName=IP:127.0.0.1,DNS:localhost\n";
        std::fs::write(authority.path("san"), san).expect("written");
        Some(authority)
    }

    /// The path of `NAME.pem`, `NAME.key` or any other file of the authority.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Signs `NAME.pem` with `NAME.key` for 127.0.0.1 and localhost, valid now.
    ///
    /// # Panics
    /// If openssl fails.
    pub fn issue(&self, name: &str) {
        self.request(name);
        self.openssl(&format!(
            "x509 -req -in {name}.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 \
             -extfile san -out {name}.pem"
        ));
    }

    /// Signs a certificate that was valid for a day in 2020.
    ///
    /// # Panics
    /// If openssl fails.
    pub fn issue_expired(&self, name: &str) {
        self.request(name);
        // `x509 -req` of OpenSSL 3.0 takes no dates, `ca` does
        let configuration = "[ca]\ndefault_ca=d\n[d]\ndatabase=index\nserial=serial\n\
                             new_certs_dir=.\ndefault_md=sha256\npolicy=p\n[p]\n\
                             commonName=supplied\n";
        for (file, text) in [("index", ""), ("serial", "01\n"), ("ca.cnf", configuration)] {
            std::fs::write(self.path(file), text).expect("written");
        }
        self.openssl(&format!(
            "ca -batch -config ca.cnf -cert ca.pem -keyfile ca.key -extfile san \
             -startdate 20200101000000Z -enddate 20200102000000Z -in {name}.csr -out {name}.pem"
        ));
    }

    /// Puts `NAME.pem`, which was issued before, on the authority's revocation list `ca.crl`.
    ///
    /// # Panics
    /// If openssl fails.
    pub fn revoke(&self, name: &str) {
        let configuration = "[ca]\ndefault_ca=d\n[d]\ndatabase=revoked\ndefault_md=sha256\n\
                             default_crl_days=2\ncrlnumber=crlnumber\n";
        std::fs::write(self.path("crl.cnf"), configuration).expect("written");
        if !self.path("revoked").exists() {
            // with a number the list is of version 2, the only one that RFC 5280 allows
            std::fs::write(self.path("revoked"), "").expect("written");
            std::fs::write(self.path("crlnumber"), "01\n").expect("written");
        }
        let signed = "-config crl.cnf -cert ca.pem -keyfile ca.key";
        self.openssl(&format!("ca {signed} -revoke {name}.pem"));
        self.openssl(&format!("ca {signed} -gencrl -out ca.crl"));
    }

    /// Signs the revocation list once more as `past.crl`, which was to be renewed in 2020.
    ///
    /// # Panics
    /// If openssl fails, or nothing was revoked before.
    pub fn list_of_2020(&self) {
        self.openssl(
            "ca -config crl.cnf -cert ca.pem -keyfile ca.key -gencrl -out past.crl \
             -crl_lastupdate 20200101000000Z -crl_nextupdate 20200102000000Z",
        );
    }

    fn request(&self, name: &str) {
        self.openssl(&format!(
            "req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN={name} \
             -keyout {name}.key -out {name}.csr"
        ));
    }

    fn openssl(&self, arguments: &str) {
        let done = Command::new(&self.openssl)
            .args(arguments.split_whitespace())
            .current_dir(self.folder.path())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status();
        assert!(done.is_ok_and(|status| status.success()), "openssl {arguments}");
    }
}
