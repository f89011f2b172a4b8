package keyfile_test

import (
	"bytes"
	"crypto/rand"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"coffer/api/sealed"
	"coffer/api/secret"
	"coffer/api/service/keyfile"
)

const (
	words = "a long passphrase"
	net   = "0xaa"
	host  = "https://attester.example"
)

func options(path, networkID, pass string) keyfile.Options {
	return keyfile.Options{Path: path, Network: networkID, Random: rand.Reader, Work: 2,
		Pass: func(bool) (secret.Secret, error) { return secret.New([]byte(pass)), nil }}
}

func TestAFileOfKeysGivesTheSameSeedAndSecretsAndShowsNone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "keys")
	f, made, err := keyfile.Open(options(path, net, words))
	if err != nil || !made {
		t.Fatal(made, err)
	}
	seed, api := f.Seed(), "an-api-key-of-an-attester"
	if err := f.SetSecret("theirs", host, secret.New([]byte(api))); err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	printed := fmt.Appendf(nil, "%v %+v %s", f, f, f)
	for _, text := range [][]byte{raw, printed} {
		for _, s := range [][]byte{seed, []byte(hex.EncodeToString(seed)), []byte(api),
			[]byte(base64.StdEncoding.EncodeToString(seed)), []byte(words)} {
			if bytes.Contains(text, s) {
				t.Errorf("%x is shown", s)
			}
		}
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Error(info.Mode(), err)
	}
	f.Close()
	again, made, err := keyfile.Open(options(path, net, words))
	if err != nil || made || !bytes.Equal(again.Seed(), seed) {
		t.Fatal(made, err)
	}
	if got, err := again.Secret("theirs", host); err != nil || got != api {
		t.Error(got, err)
	}
	_, err = again.Secret("theirs", "https://elsewhere.example")
	if err == nil || errors.Is(err, keyfile.ErrNoSecret) {
		t.Error("given for another host: ", err)
	}
	if _, err := again.Secret("mine", host); !errors.Is(err, keyfile.ErrNoSecret) {
		t.Error(err)
	}
}

func TestAFileOfKeysOpensForItsNetworkAndPassphraseOnly(t *testing.T) {
	path := filepath.Join(t.TempDir(), "keys")
	if _, _, err := keyfile.Open(options(path, net, "short")); !errors.Is(err, sealed.ErrWeakPassphrase) {
		t.Error(err)
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("a file was made")
	}
	if _, _, err := keyfile.Open(options(path, net, words)); err != nil {
		t.Fatal(err)
	}
	if _, _, err := keyfile.Open(options(path, "0xbb", words)); !errors.Is(err, keyfile.ErrNetwork) {
		t.Error(err)
	}
	if _, _, err := keyfile.Open(options(path, net, "another passphrase")); !errors.Is(err, sealed.ErrPassphrase) {
		t.Error(err)
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, spoilt := range [][]byte{raw[:len(raw)-1], append(bytes.Clone(raw), 0), {}, []byte("keys")} {
		if err := os.WriteFile(path, spoilt, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, _, err := keyfile.Open(options(path, net, words)); !errors.Is(err, sealed.ErrDamaged) {
			t.Errorf("%d bytes: %v", len(spoilt), err)
		}
	}
	if err := errors.Join(os.WriteFile(path, raw, 0o600), os.Chmod(path, 0o666)); err != nil {
		t.Fatal(err)
	}
	if _, _, err := keyfile.Open(options(path, net, words)); err == nil {
		t.Error("anyone may change it")
	}
}

func TestOfTwoFirstStartsOneMakesTheKeys(t *testing.T) {
	path := filepath.Join(t.TempDir(), "keys")
	var both sync.WaitGroup
	both.Add(2)
	ends := make(chan error, 2)
	for range 2 {
		go func() {
			o := options(path, net, words)
			o.Pass = func(bool) (secret.Secret, error) {
				both.Done()
				both.Wait()
				return secret.New([]byte(words)), nil
			}
			f, made, err := keyfile.Open(o)
			if err == nil {
				defer f.Close()
			}
			if err == nil && !made {
				err = errors.New("it was there")
			}
			ends <- err
		}()
	}
	one, other := <-ends, <-ends
	if one != nil {
		one, other = other, one
	}
	if one != nil || other == nil || !strings.Contains(other.Error(), "another process made this file meanwhile") {
		t.Errorf("%v and %v", one, other)
	}
	if left, err := os.ReadDir(filepath.Dir(path)); err != nil || len(left) != 1 {
		t.Errorf("%v, %v", left, err)
	}
}
