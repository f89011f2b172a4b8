package doctor

import (
	"crypto/x509"
	"encoding/pem"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"coffer/config"
)

// files examines the files that decide which servers the program trusts: that they exist, can be used, and that no
// other user may write to them.
func (d Deps) files() []Finding {
	out := []Finding{file("configuration", d.Paths.Config, true)}
	for _, f := range []struct{ name, path string }{{"network file", d.Profile.NetworkFile},
		{"certificate authority", d.Profile.CAFile}} {
		if f.path != "" {
			out = append(out, file(f.name, f.path, false))
		}
	}
	if last := len(out) - 1; d.Profile.CAFile != "" && out[last].Level == Good {
		if _, err := d.Profile.Roots(); err != nil {
			out[last].is(Bad, words(err), "get ca.pem from the operator")
		}
	}
	if d.Profile.PolicyFile != "" && d.Policy != nil {
		f := file("policy", d.Profile.PolicyFile, false)
		if err := d.Policy(); err != nil && f.Level == Good {
			f.is(Bad, words(err),
				"repair the file; nothing is signed under a policy that cannot be read")
		}
		out = append(out, f)
	}
	out = append(out, d.authority()...)
	data := d.writable(directory("data", d.Paths.ProfileData(d.Profile.Name)), d.Paths.ProfileData(d.Profile.Name))
	if data.Level != Good {
		out = append(out, data)
	}
	book := d.writable(directory("journal", d.Paths.ProfileState(d.Profile.Name)),
		d.Paths.ProfileState(d.Profile.Name))
	if d.Journal != nil && book.Level == Good {
		if err := d.Journal(); err != nil {
			book.is(Bad, words(err),
				"put the newest copy back; without one: coffer activity adopt")
		}
	}
	return append(out, book)
}

// writable says that nothing can be written to a directory, which is needed before anything is signed.
func (d Deps) writable(f Finding, dir string) Finding {
	if f.Level != Good && f.Level != Unknown || d.Writable == nil {
		return f
	}
	switch err := d.Writable(dir); {
	case err == nil:
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		f.is(Bad, dir+": the disk is full", "make room; nothing is signed that cannot be recorded first")
	default:
		f.is(Bad, dir+" cannot be written: "+words(err),
			"let only your own user write there, or name another place with COFFER_DATA")
	}
	return f
}

// TryToWrite writes a small file to a directory, or to the nearest one above that is there, and removes it again.
func TryToWrite(dir string) error {
	for {
		_, err := os.Stat(dir)
		if up := filepath.Dir(dir); errors.Is(err, fs.ErrNotExist) && up != dir {
			dir = up
			continue
		}
		break
	}
	f, err := os.CreateTemp(dir, ".coffer-doctor-*")
	if err != nil {
		return err
	}
	_, err = f.Write(make([]byte, 4096))
	return errors.Join(err, f.Sync(), f.Close(), os.Remove(f.Name()))
}

// soon is how long before its end a certificate is mentioned.
const soon = 30 * 24 * time.Hour

// authority looks at the dates of the CA file; nothing when all is well.
func (d Deps) authority() []Finding {
	raw, err := os.ReadFile(d.Profile.CAFile)
	if d.Profile.CAFile == "" || err != nil {
		return nil // a file that cannot be read is a finding already
	}
	var out []Finding
	for block, rest := pem.Decode(raw); block != nil; block, rest = pem.Decode(rest) {
		c, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			continue
		}
		f := Finding{Area: AreaFiles, Name: "certificate authority"}
		until := c.NotAfter.UTC().Format(time.DateOnly)
		switch left := c.NotAfter.Sub(d.Clock()); {
		case left < 0:
			f.is(Bad, d.Profile.CAFile+": expired on "+until, "get the new ca.pem from the operator")
		case left < soon:
			f.is(Warn, d.Profile.CAFile+": expires on "+until, "get the new ca.pem from the operator before that")
		default:
			continue
		}
		out = append(out, f)
	}
	return out
}

func file(name, path string, may bool) Finding {
	f := Finding{Area: AreaFiles, Name: name, Text: path}
	_, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist) && may:
		f.Text += ": none, so every setting has its default"
	case err != nil:
		f.is(Bad, words(err), "put the file back, or name another one in the configuration")
	default:
		if err := config.CheckMode(path); err != nil {
			f.is(Bad, words(err), "anyone who can write here decides where your signatures go")
		}
	}
	return f
}

// directory examines a directory that the program creates itself and that only its owner may use.
func directory(name, path string) Finding {
	f := Finding{Area: AreaFiles, Name: name, Text: path}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		f.Text += ": not there yet"
	case err != nil:
		f.Level, f.Text = Unknown, words(err)
	case !info.IsDir():
		f.is(Bad, path+" is no directory", "move it away")
	case info.Mode().Perm()&0o022 != 0:
		f.is(Bad, path+": others may write here", "run: chmod 700 "+path)
	}
	return f
}
