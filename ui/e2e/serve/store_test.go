//go:build unix

package serve

import (
	"bytes"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"coffer/ui/e2e/rig"
)

// oneService starts a service on a directory, stops it, and returns the directory.
func oneService(t *testing.T, env []string) (data string) {
	t.Helper()
	data = t.TempDir()
	cmd, _, _, _ := rig.Serve(t, env, "--data", data)
	rig.Interrupt(t, cmd)
	return data
}

// damage flips a bit of the first copy of a text in a file.
func damage(t *testing.T, path, text string) {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	at := bytes.Index(raw, []byte(text))
	if at < 0 {
		t.Fatalf("%q is not in %s", text, path)
	}
	raw[at] ^= 2
	if err := os.WriteFile(path, raw, 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestR1_ServeRefusesALostNetwork: no second network in silence, exit code 7, and what to do; on purpose it begins one
// and keeps the first.
func TestR1_ServeRefusesALostNetwork(t *testing.T) {
	t.Parallel()
	_, env := rig.Home(t)
	data := oneService(t, env)
	before, err := os.ReadFile(filepath.Join(data, "network.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(filepath.Join(data, "coffer.db"), 0); err != nil {
		t.Fatal(err)
	}
	out, errs, code := rig.Run(t, env, "serve", "--listen", "127.0.0.1:0", "--data", data)
	if code != 7 || out != "" || !strings.Contains(errs, "is lost") || !strings.Contains(errs, "backup") ||
		!strings.Contains(errs, "serve --new") {
		t.Errorf("code %d, %q, %s", code, out, errs)
	}
	if after, err := os.ReadFile(filepath.Join(data, "network.json")); err != nil || !bytes.Equal(after, before) {
		t.Errorf("network.json was changed (%v)", err)
	}
	if _, errs, code := rig.Run(t, env, "serve", "keys", "list", "--data", data); code != 7 ||
		!strings.Contains(errs, "is lost") {
		t.Errorf("keys list: code %d, %s", code, errs)
	}
	cmd, _, _, logs := rig.Serve(t, env, "--data", data, "--new")
	rig.Interrupt(t, cmd)
	kept, err := filepath.Glob(filepath.Join(data, "before-*", "network.json"))
	if err != nil || len(kept) != 1 || !strings.Contains(logs.String(), filepath.Dir(kept[0])) {
		t.Fatalf("%v, %v\n%s", kept, err, logs)
	}
	if old, err := os.ReadFile(kept[0]); err != nil || !bytes.Equal(old, before) {
		t.Errorf("the old network.json is not kept: %v", err)
	}
}

// TestR1_NothingIsMovedForAServiceThatCannotListen: a restart would move one network after the other.
func TestR1_NothingIsMovedForAServiceThatCannotListen(t *testing.T) {
	t.Parallel()
	_, env := rig.Home(t)
	data := oneService(t, env)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, errs, code := rig.Run(t, env, "serve", "--new", "--listen", l.Addr().String(), "--data", data)
	if code != 1 || !strings.Contains(errs, "nothing was moved") || !strings.Contains(errs, "--listen") {
		t.Errorf("code %d, %s", code, errs)
	}
	if moved, err := filepath.Glob(filepath.Join(data, "before-*")); err != nil || len(moved) != 0 {
		t.Errorf("%v, %v", moved, err)
	}
}

// TestR1_TheEmbeddedProfileRefusesALostNetwork: as the service does.
func TestR1_TheEmbeddedProfileRefusesALostNetwork(t *testing.T) {
	t.Parallel()
	dir, env := rig.Home(t)
	if _, errs, code := rig.Run(t, env, "balances"); code != 0 {
		t.Fatalf("code %d, %s", code, errs)
	}
	var found []string
	err := filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
		if filepath.Base(path) == "coffer.db" {
			found = append(found, path)
		}
		return err
	})
	if err != nil || len(found) != 1 {
		t.Fatalf("%v, %v", found, err)
	}
	if err := os.Remove(found[0]); err != nil {
		t.Fatal(err)
	}
	if _, errs, code := rig.Run(t, env, "balances"); code != 7 || !strings.Contains(errs, "is lost") ||
		!strings.Contains(errs, "serve --new") {
		t.Errorf("code %d, %s", code, errs)
	}
}

// TestR2_DamageIsSaidInWords: no stack of the runtime, exit code 7, and what to do.
func TestR2_DamageIsSaidInWords(t *testing.T) {
	t.Parallel()
	_, env := rig.Home(t)
	data := oneService(t, env)
	path := filepath.Join(data, "coffer.db")
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	zeroed := bytes.Clone(raw)
	clear(zeroed[8*4096 : 200*4096])
	for name, content := range map[string][]byte{"truncated": raw[:300<<10], "zeroed": zeroed,
		"half a page": raw[:2000]} {
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		for _, args := range [][]string{{"serve", "--listen", "127.0.0.1:0", "--data", data},
			{"serve", "check", "--data", data}} {
			out, errs, code := rig.Run(t, env, args...)
			if code != 7 || out != "" || !strings.Contains(errs, "the database is damaged") ||
				!strings.Contains(errs, "backup") || strings.Contains(errs, "goroutine") {
				t.Errorf("%s, %v: code %d, %q, %s", name, args, code, out, errs)
			}
		}
	}
}

// TestR3_ServeCheckNamesADamagedRecord, and is content with a good store and with a backup.
func TestR3_ServeCheckNamesADamagedRecord(t *testing.T) {
	t.Parallel()
	_, env := rig.Home(t)
	data := oneService(t, env)
	if out, errs, code := rig.Run(t, env, "serve", "check", "--data", data); code != 0 ||
		!strings.Contains(out, "all pages and records are good") {
		t.Errorf("code %d, %s%s", code, out, errs)
	}
	damage(t, filepath.Join(data, "coffer.db"), "beneficiary")
	out, errs, code := rig.Run(t, env, "serve", "check", filepath.Join(data, "coffer.db"))
	if code != 7 || !strings.Contains(out, "of evm/code is not what was written") || !strings.Contains(errs, "1 of ") {
		t.Errorf("code %d, %s%s", code, out, errs)
	}
	if !strings.Contains(errs, "no good backup") || strings.Contains(errs, "serve --new") {
		t.Errorf("advice about a directory that was not read: %s", errs)
	}
	empty := filepath.Join(t.TempDir(), "empty.db")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, errs, code := rig.Run(t, env, "serve", "check", empty); code != 7 || !strings.Contains(errs, "it is empty") {
		t.Errorf("an empty file: code %d, %s", code, errs)
	}
	if _, errs, code := rig.Run(t, env, "serve", "check", t.TempDir()); code != 1 ||
		!strings.Contains(errs, "not a regular file") {
		t.Errorf("a directory: code %d, %s", code, errs)
	}
	if _, _, code := rig.Run(t, env, "serve", "check", filepath.Join(data, "none.db")); code != 2 {
		t.Errorf("a file that is not there: code %d", code)
	}
}

// TestR5_ServeBackupOfARunningService: made over the socket, private, never over a file, and good for a restore.
func TestR5_ServeBackupOfARunningService(t *testing.T) {
	t.Parallel()
	_, env := rig.Home(t)
	data := t.TempDir()
	cmd, _, line, _ := rig.Serve(t, env, "--data", data)
	at, _ := rig.Where(t, line)
	before, err := os.ReadFile(at.NetworkFile)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "backup.db")
	if out, errs, code := rig.Run(t, env, "serve", "backup", file, "--data", data); code != 0 ||
		!strings.Contains(out, "good") {
		t.Fatalf("code %d, %s%s", code, out, errs)
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	if _, errs, code := rig.Run(t, env, "serve", "backup", file, "--data", data); code != 2 ||
		!strings.Contains(errs, "not overwritten") {
		t.Errorf("over a file: code %d, %s", code, errs)
	}
	if _, errs, code := rig.Run(t, env, "serve", "check", "--data", data); code != 1 ||
		!strings.Contains(errs, "serve backup") {
		t.Errorf("a check of what is in use: code %d, %s", code, errs)
	}
	rig.Interrupt(t, cmd)
	restored := t.TempDir()
	if err := os.Rename(file, filepath.Join(restored, "coffer.db")); err != nil {
		t.Fatal(err)
	}
	again, _, line, _ := rig.Serve(t, env, "--data", restored)
	at, _ = rig.Where(t, line)
	if after, err := os.ReadFile(at.NetworkFile); err != nil || !bytes.Equal(after, before) {
		t.Errorf("the restored network is another one (%v)", err)
	}
	rig.Interrupt(t, again)
}
