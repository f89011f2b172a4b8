package keys

import (
	"bytes"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"coffer/api/network"
	"coffer/api/secret"
	"coffer/ui/cli"
	"coffer/wallet/vault"
)

// ready is a desk whose profile "team" has a vault that asks for nothing.
func ready(t *testing.T) *desk {
	t.Helper()
	d := newDesk(t)
	n, err := network.Decode(descriptor(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"profile", "add", "team", "--kind", "lab", "--url", "https://wallet.invalid/api", "--network-file",
			d.dir + "/network.json", "--fingerprint", n.Fingerprint(), "--vault", "keyring-only"}, {"keys", "init"},
	} {
		if code := d.run(args...); code != 0 {
			t.Fatalf("%v: exit code %d, %s", args, code, &d.said)
		}
	}
	return d
}

// A fault in a file that the command line names is an error of the command line (exit code 2), and the error repeats
// none of its content (TH-K1).
func TestAKeyFileThatIsNoneIsAMatterOfTheCommandLine(t *testing.T) {
	d := ready(t)
	const twelve = "legal winner thank year wave sausage worth useful legal winner thank "
	for name, content := range map[string]string{
		"empty": "", "blank": "\n", "short": keyText[1:], "long": keyText + "00", "all zero": strings.Repeat("0", 64),
		"not hex": "0xg" + keyText[1:], "wrong checksum": twelve + "legal",
		"no word": twelve + "coffer", "eleven words": strings.TrimSpace(twelve),
		"keystore": `{"version":3,"crypto":"4c0883a6"}`, "array": "[76,8,131]", "base58": seed58[4:],
		"large": strings.Repeat(keyText, 2000),
	} {
		d.write("bad", []byte(content), 0o600)
		if code := d.run("keys", "import", "--file", d.dir+"/bad"); code != cli.ExitUsage || d.out.Len() > 0 ||
			!strings.HasPrefix(d.said.String(), "coffer: ") {
			t.Errorf("%s: exit code %d, printed %q, said %s", name, code, &d.out, &d.said)
		}
		for _, part := range []string{keyText[1:12], "legal", "coffer,", seed58[4:12], "4c0883a6"} {
			if strings.Contains(d.said.String(), part) {
				t.Errorf("%s: repeated: %s", name, &d.said)
			}
		}
	}
	d.write("words", []byte(words), 0o600)
	d.write("key", []byte(keyText), 0o600)
	d.write("seed", []byte(seed58), 0o600)
	for _, c := range []struct {
		code int
		args []string
	}{
		{2, []string{"--file", d.dir + "/words", "--path", "foo"}},
		{2, []string{"--file", d.dir + "/words", "--path", "m/44'/60'/x"}},
		{2, []string{"--file", d.dir + "/seed", "--kind", "evm"}},
		{2, []string{"--path", "m/44'/"}}, {2, []string{"--file", d.dir + "/words", "--kind", "solana", "--path",
			"m/44'/501'/0"}}, {2, []string{"--file", d.dir + "/none"}}, {2, []string{"--file", d.dir}},
		{2, []string{"--file", d.dir + "/key", "--label", strings.Repeat("long ", 20)}},
		{0, []string{"--file", d.dir + "/key"}}, {1, []string{"--file", d.dir + "/key"}},
	} {
		if code := d.run(append([]string{"keys", "import"}, c.args...)...); code != c.code {
			t.Errorf("%v: exit code %d, want %d: %s", c.args, code, c.code, &d.said)
		}
	}
	if code := d.run("keys", "new", "--label", strings.Repeat("long ", 20)); code != cli.ExitUsage {
		t.Errorf("a label that is too long: exit code %d, %s", code, &d.said)
	}
}

// A wrong password of a keystore is no fault of the file.
func TestAWrongPasswordOfAKeystoreIsAMatterOfAccess(t *testing.T) {
	store :=
		`{"version":3,"id":"3198bc9c-6672-5ab3-d995-4942343ae5b6","crypto":{"cipher":"aes-128-ctr",` +
			`"cipherparams":{"iv":"6087dab2f9fdbbfaddc31a909735c1e6"},` +
			`"ciphertext":"5318b4d5bcd28de64ee5559e671353e16f075ecae9f99c7a79a38af5f869aa46","kdf":"pbkdf2",` +
			`"kdfparams":{"c":262144,"dklen":32,"prf":"hmac-sha256",` +
			`"salt":"ae3cd4e7013836a3df6bd7241b12db061dbe2c6785853cce422d148a624ce0bd"},` +
			`"mac":"517ead924a9d0dc3124507e3393d175ce3ff7c1e96529c6c555ce9e51205e9b2"}}`
	password := secret.New([]byte("not this one"))
	_, err := vault.ParseKey([]byte(store), vault.Hint{Password: password})
	if err = noKey("store.json", err); cli.Code(err) != cli.ExitAccess {
		t.Errorf("exit code %d: %v", cli.Code(err), err)
	}
}

// A file that is no backup says nothing about the vault, which is sound.
func TestAFileThatIsNoBackupIsAMatterOfTheCommandLine(t *testing.T) {
	v := opened(t)
	good, err := v.Backup(t.Context(), secret.New([]byte(pass)))
	if err != nil {
		t.Fatal(err)
	}
	cut, _ := hex.DecodeString("6167652d656e6372797074696f6e2e6f72672f76310a")
	file := filepath.Join(t.TempDir(), "keys.age")
	for name, c := range map[string]struct {
		content []byte
		pass    string
		code    int
	}{
		"whole": {good, pass, 0}, "another passphrase": {good, "not this one", cli.ExitAccess},
		"junk": {[]byte("junk"), pass, cli.ExitUsage}, "empty": {nil, pass, cli.ExitUsage},
		"cut off": {cut, pass, cli.ExitUsage},
		"changed": {bytes.Replace(good, []byte("A"), []byte("B"), 3), pass, cli.ExitUsage},
		"half":    {good[:len(good)/2], pass, cli.ExitUsage},
	} {
		if err := os.WriteFile(file, c.content, 0o600); err != nil {
			t.Fatal(err)
		}
		var said, out bytes.Buffer
		data, err := readBackup(file)
		if err == nil {
			err = Commands{Prompt: cli.Prompt{Out: &said}, Out: &out}.restored(t.Context(), v, data,
				secret.New([]byte(c.pass)), "", false)
		}
		if code := cli.Code(err); code != c.code || out.Len() > 0 ||
			code == cli.ExitUsage && !strings.Contains(err.Error(), "no backup of keys") {
			t.Errorf("%s: exit code %d, %v", name, code, err)
		}
	}
}
