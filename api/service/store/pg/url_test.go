package pg

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func nothing(string) (string, bool) { return "", false }

// A password may stand in a file alone: an argument, and the environment, are read by others.
func TestAPasswordInAnAddressOrTheEnvironmentIsRefused(t *testing.T) {
	const secret = "hunter2hunter2"
	for _, address := range []string{
		"postgres://u:" + secret + "@127.0.0.1/db", "postgresql://u:" + secret + "@[::1]:5432/db?sslmode=disable",
		"postgres://127.0.0.1/db?user=u&password=" + secret, "postgres://127.0.0.1/db?sslpassword=" + secret,
	} {
		_, err := parse(address, nothing)
		if !errors.As(err, new(*AddressError)) || strings.Contains(err.Error(), secret) {
			t.Errorf("%v", err)
		}
	}
	for _, name := range []string{"PGPASSWORD", "PGSSLPASSWORD"} {
		_, err := parse("postgres://u@127.0.0.1/db", func(n string) (string, bool) { return secret, n == name })
		if !errors.As(err, new(*AddressError)) || !strings.Contains(err.Error(), name) ||
			strings.Contains(err.Error(), secret) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestAPasswordComesFromAFileThatNobodyElseReads(t *testing.T) {
	file := filepath.Join(t.TempDir(), "pass")
	if err := os.WriteFile(file, []byte("127.0.0.1:5432:db:u:from the file\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	address := "postgres://u@127.0.0.1:5432/db?passfile=" + file
	c, err := parse(address, nothing)
	if err != nil || c.ConnConfig.Password != "from the file" {
		t.Fatalf("%v", err)
	}
	if err := os.Chmod(file, 0o640); err != nil {
		t.Fatal(err)
	}
	if _, err := parse(address, nothing); !errors.As(err, new(*AddressError)) {
		t.Errorf("a file that its group reads: %v", err)
	}
	if _, err := parse("postgres://u@127.0.0.1/db?passfile=/nowhere", nothing); !errors.As(err, new(*AddressError)) {
		t.Errorf("a file that is not there: %v", err)
	}
}

// The records have the service's own keys: over a network they go to a known server alone.
func TestAnotherMachineNeedsTLSThatKnowsIt(t *testing.T) {
	for address, good := range map[string]bool{
		"postgres://u@127.0.0.1/db":                         true,
		"postgres://u@[::1]/db?sslmode=disable":             true,
		"postgres://u@localhost/db":                         true,
		"postgres:///db?host=/run/postgresql&user=u":        true,
		"postgres://u@db.example/db":                        false,
		"postgres://u@db.example/db?sslmode=require":        false,
		"postgres://u@192.0.2.7/db?sslmode=disable":         false,
		"postgres://u@db.example/db?sslmode=verify-full":    true,
		"postgres://u@127.0.0.1,db.example/db":              false,
		"host=127.0.0.1 user=u password=x":                  false,
		"mysql://u@127.0.0.1/db":                            false,
		"postgres://u@127.0.0.1/db?sslmode=nonsense":        false,
		"postgres://u@db.example/db?sslmode=verify-ca":      true,
		"postgres://u@db.example/db?sslmode=allow&x=%zz":    false,
		"postgres://u@127.0.0.1:port/db":                    false,
		"postgres://u@db.example:5432/db?sslmode=verify-ca": true,
	} {
		_, err := parse(address, nothing)
		if (err == nil) != good || err != nil && !errors.As(err, new(*AddressError)) {
			t.Errorf("%s: %v", address, err)
		}
	}
}

// Of several servers the one is taken that writes, wherever it is named.
func TestOfSeveralServersTheOneThatWritesIsTaken(t *testing.T) {
	for address, several := range map[string]bool{
		"postgres://u@127.0.0.1:5432,127.0.0.1:5433/db": true,
		"postgres://u@127.0.0.1,localhost/db":           true,
		"postgres://u@127.0.0.1/db":                     false,
		"postgres://u@127.0.0.1:5432/db?sslmode=prefer": false, // twice the same, with TLS and without
		"postgres:///db?host=/run/a,/run/b&user=u":      true,
		"postgres://u@127.0.0.1/db?sslmode=disable&x=y": false,
	} {
		c, err := parse(address, nothing)
		if err != nil || (c.ConnConfig.ValidateConnect != nil) != several {
			t.Errorf("%s: %v", address, err)
		}
	}
}

func FuzzParseAddress(f *testing.F) {
	for _, s := range []string{"postgres://u@127.0.0.1:5432/db?sslmode=disable", "postgres://u:p@h/db",
		"postgresql://[::1", "postgres:///db?host=/tmp&service=x", "host=h password=p",
		"postgres://h/db?search_path=a&passfile=/dev/null"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, address string) {
		c, err := parse(address, nothing)
		if err != nil {
			if !errors.As(err, new(*AddressError)) {
				t.Fatalf("%q: %v", address, err)
			}
			return
		}
		_, has := c.ConnConfig.RuntimeParams["statement_timeout"]
		if !has || c.ConnConfig.ConnectTimeout != connectWithin {
			t.Errorf("%q leaves the bounds out", address)
		}
		if shown := Shown(address); strings.Contains(shown, "?") {
			t.Errorf("%q is shown with parameters", address)
		}
	})
}
