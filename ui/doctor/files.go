package doctor

import (
	"errors"
	"io/fs"
	"os"

	"coffer/config"
)

// files examines the files that decide which servers the program trusts: that they exist and that no other user may
// write to them.
func (d Deps) files() []Finding {
	out := []Finding{file("configuration", d.Paths.Config, true)}
	for _, f := range []struct{ name, path string }{{"network file", d.Profile.NetworkFile},
		{"certificate authority", d.Profile.CAFile}} {
		if f.path != "" {
			out = append(out, file(f.name, f.path, false))
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
	book := directory("journal", d.Paths.ProfileState(d.Profile.Name))
	if d.Journal != nil && book.Level == Good {
		if err := d.Journal(); err != nil {
			book.is(Bad, words(err),
				"put the newest copy back; without one: coffer activity adopt")
		}
	}
	return append(out, book)
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
			f.is(Bad, words(err), "whoever can write here decides where your signatures go")
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
