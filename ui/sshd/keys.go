package sshd

import (
	"bufio"
	"bytes"
	"crypto/rsa"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	gossh "golang.org/x/crypto/ssh"

	"coffer/api/text"
)

// Bounds of an authorized-keys file.
const (
	maxKeysFile = 1 << 20
	maxKeys     = 4096
	maxKeyLine  = 16 << 10
	minRSA      = 2048 // bits
	maxComment  = 40   // characters of a guest's name
)

// signatureAlgorithms are those that a key may prove itself with: no SHA-1, no DSA, no certificates.
func signatureAlgorithms() []string {
	return []string{
		gossh.KeyAlgoED25519, gossh.KeyAlgoSKED25519, gossh.KeyAlgoECDSA256, gossh.KeyAlgoECDSA384,
		gossh.KeyAlgoECDSA521, gossh.KeyAlgoSKECDSA256,
		gossh.KeyAlgoRSASHA256, gossh.KeyAlgoRSASHA512,
	}
}

// badLine is a line of the file that admits no key.
type badLine struct {
	line int
	why  string
}

// authorized maps the keys of a file, as SSH encodes them, to guests' names.
type authorized struct {
	names map[string]string
	bad   []badLine
}

// parseKeys reads the content of an authorized-keys file. A line with options admits no key: ignoring an option would
// allow what it forbids.
func parseKeys(content io.Reader) (authorized, error) {
	out := authorized{names: map[string]string{}}
	in := bufio.NewScanner(content)
	in.Buffer(make([]byte, 0, 4096), maxKeyLine)
	n := 0
	for in.Scan() {
		n++
		line := bytes.TrimSpace(in.Bytes())
		if len(line) == 0 || line[0] == '#' {
			continue
		}
		key, comment, why := parseLine(line)
		if why == "" && len(out.names) == maxKeys {
			why = fmt.Sprintf("there are %d keys before it, and more are not read", maxKeys)
		}
		if why != "" {
			out.bad = append(out.bad, badLine{n, why})
			continue
		}
		if _, twice := out.names[string(key.Marshal())]; !twice {
			out.names[string(key.Marshal())] = comment
		}
	}
	if errors.Is(in.Err(), bufio.ErrTooLong) {
		out.bad = append(out.bad, badLine{n + 1,
			fmt.Sprintf("it is longer than %d bytes; it and everything below it is not read", maxKeyLine)})
		return out, nil
	}
	return out, in.Err()
}

func parseLine(line []byte) (key gossh.PublicKey, comment, why string) {
	key, comment, options, rest, err := gossh.ParseAuthorizedKey(line)
	switch {
	case err != nil || len(rest) > 0:
		return nil, "", "it is no public key such as the .pub file of ssh-keygen has"
	case len(options) > 0:
		return nil, "", "it has options, and options are not carried out here: give the key alone"
	}
	return key, text.Clean(strings.TrimSpace(comment), maxComment), unfit(key)
}

// unfit returns why a key is never admitted, whatever the file says; "" when it may be.
func unfit(key gossh.PublicKey) string {
	if _, certificate := key.(*gossh.Certificate); certificate {
		return "it is a certificate, and only plain keys are admitted"
	}
	switch key.Type() {
	case gossh.KeyAlgoED25519, gossh.KeyAlgoSKED25519, gossh.KeyAlgoECDSA256, gossh.KeyAlgoECDSA384,
		gossh.KeyAlgoECDSA521, gossh.KeyAlgoSKECDSA256:
		return ""
	case gossh.KeyAlgoRSA:
		plain, ok := key.(gossh.CryptoPublicKey)
		if !ok {
			return "its length is not known"
		}
		if k, ok := plain.CryptoPublicKey().(*rsa.PublicKey); !ok || k.N.BitLen() < minRSA {
			return fmt.Sprintf("an RSA key needs %d bits at least", minRSA)
		}
		return ""
	}
	return "keys of type " + text.Clean(key.Type(), 40) + " are not admitted"
}

// keyFile is an authorized-keys file; it is read again whenever it changes. It is safe for concurrent use.
type keyFile struct {
	path string
	log  *slog.Logger

	mu   sync.Mutex
	seen stamp
	now  authorized
	err  error
}

// stamp distinguishes one content of a file from another.
type stamp struct {
	changed time.Time
	size    int64
	file    fs.FileInfo
}

// start reads the file for the first time. Without a usable key the server does not start.
func (f *keyFile) start() (int, error) {
	now, err := f.read()
	if err != nil {
		return 0, err
	}
	if len(now.names) == 0 {
		why := ""
		for _, b := range now.bad {
			why += fmt.Sprintf("\nline %d: %s", b.line, b.why)
		}
		return 0, fmt.Errorf("no key in %s admits anyone, so nothing is served over SSH; add the line of a .pub "+
			"file for everyone who may come in%s", f.path, why)
	}
	return len(now.names), nil
}

// name returns the name of the guest with this key; ok is false when the file does not have the key, or is not
// trustworthy.
func (f *keyFile) name(key gossh.PublicKey) (name string, ok bool) {
	now, err := f.read()
	if err != nil {
		return "", false
	}
	name, ok = now.names[string(key.Marshal())]
	return name, ok
}

// read returns the current content of the file. It logs a fault once for each content.
func (f *keyFile) read() (authorized, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	info, err := checkKeysFile(f.path)
	if err != nil {
		if f.err == nil || f.err.Error() != err.Error() {
			f.log.Error("ssh: no key is admitted", "error", err)
		}
		f.now, f.seen, f.err = authorized{}, stamp{}, err
		return f.now, err
	}
	at := stamp{changed: info.ModTime(), size: info.Size(), file: info}
	if f.seen.file != nil && at.changed.Equal(f.seen.changed) && at.size == f.seen.size &&
		os.SameFile(at.file, f.seen.file) && f.err == nil && time.Since(at.changed) > time.Second {
		return f.now, nil
	}
	again := f.seen.file != nil && at.changed.Equal(f.seen.changed) && at.size == f.seen.size
	f.now, f.err = readKeys(f.path)
	f.seen = at
	if f.err != nil {
		f.log.Error("ssh: no key is admitted", "error", f.err)
	} else if !again {
		for _, b := range f.now.bad {
			f.log.Warn("ssh: a line of the keys admits no one", "file", f.path, "line", b.line, "why", b.why)
		}
		f.log.Info("ssh: keys read", "file", f.path, "keys", len(f.now.names), "refused", len(f.now.bad))
	}
	return f.now, f.err
}

func readKeys(path string) (authorized, error) {
	file, err := os.Open(path)
	if err != nil {
		return authorized{}, err
	}
	defer func() { _ = file.Close() }()
	return parseKeys(io.LimitReader(file, maxKeysFile))
}

// checkKeysFile refuses a file that another user can write, or replace.
func checkKeysFile(path string) (fs.FileInfo, error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("there is no file %s: put the public keys of those who may come in there, one a line, "+
			"or name another file with --ssh-keys", path)
	case err != nil:
		return nil, fmt.Errorf("the authorized keys cannot be read: %w", err)
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s is not a file", path)
	case info.Size() > maxKeysFile:
		return nil, fmt.Errorf("%s is larger than %d bytes", path, maxKeysFile)
	}
	if why := writable(info); why != "" {
		return nil, fmt.Errorf("%s %s, who could let anyone in: chmod 600 %s", path, why, path)
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return nil, fmt.Errorf("the authorized keys cannot be read: %w", err)
	}
	dir, err := os.Stat(filepath.Dir(real))
	if err != nil {
		return nil, fmt.Errorf("the authorized keys cannot be read: %w", err)
	}
	if why := writable(dir); why != "" {
		return nil, fmt.Errorf("the directory %s of the authorized keys %s, who could let anyone in: chmod go-w %s",
			filepath.Dir(real), why, filepath.Dir(real))
	}
	return info, nil
}
