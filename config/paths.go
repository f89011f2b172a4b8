package config

import (
	"errors"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// Paths are the places where things are kept, by the XDG base directory rules.
type Paths struct {
	Config string // configuration file
	Data   string // chains, quotes and history of the embedded service
	State  string // journal and logs
}

// Getenv looks variables up in an environment as os.Environ gives it; the last of several wins.
func Getenv(env []string) func(name string) string {
	return func(name string) string {
		for _, line := range slices.Backward(env) {
			if value, ok := strings.CutPrefix(line, name+"="); ok {
				return value
			}
		}
		return ""
	}
}

// PathsFrom finds the paths from environment variables (getenv is os.Getenv outside tests): COFFER_CONFIG and
// COFFER_DATA name the file and the directory directly, as absolute paths (else an *Error); else XDG_CONFIG_HOME,
// XDG_DATA_HOME and XDG_STATE_HOME apply, without relative paths; else the places below the home directory.
func PathsFrom(getenv func(string) string) (Paths, error) {
	if err := absolute(getenv, EnvConfig, EnvData); err != nil {
		return Paths{}, err
	}
	p := Paths{Config: getenv(EnvConfig)}
	if dir := getenv(EnvData); dir != "" {
		p.Data, p.State = filepath.Join(dir, "data"), filepath.Join(dir, "state")
	}
	home := getenv("HOME")
	if runtime.GOOS == "windows" {
		home = getenv("USERPROFILE")
	}
	var err error
	fill := func(field *string, variable string, below ...string) {
		if *field != "" || err != nil {
			return
		}
		if dir := getenv(variable); filepath.IsAbs(dir) {
			*field = filepath.Join(dir, "coffer")
			return
		}
		if home == "" {
			err = errors.New("no home directory: set HOME, or " + variable)
			return
		}
		*field = filepath.Join(append(append([]string{home}, below...), "coffer")...)
	}
	if p.Config == "" {
		fill(&p.Config, "XDG_CONFIG_HOME", ".config")
		p.Config = filepath.Join(p.Config, "config.toml")
	}
	fill(&p.Data, "XDG_DATA_HOME", ".local", "share")
	fill(&p.State, "XDG_STATE_HOME", ".local", "state")
	return p, err
}

// serviceData is the name of the data directory of `coffer serve`; no profile may have it.
const serviceData = "serve"

// ProfileData is the data directory of an embedded profile; each profile has its own network.
func (p Paths) ProfileData(profile string) string { return filepath.Join(p.Data, profile) }

// ProfileState is the directory of a profile's journal.
func (p Paths) ProfileState(profile string) string { return filepath.Join(p.State, profile) }

// ProfileAnchor is the directory of what must outlive a journal that is restored from an older copy: how far the
// journal of a profile on a network was written, and which plans were carried out. It is beside the configuration, and
// so outside the state. network is a network id.
func (p Paths) ProfileAnchor(profile, network string) string {
	const enough = 16
	id := strings.TrimPrefix(network, "0x")
	return filepath.Join(filepath.Dir(p.Config), "anchors", profile+"-"+id[:min(len(id), enough)])
}

// ProfileScreens is where the screens of a profile keep what they show first at the next start; it holds no secret.
func (p Paths) ProfileScreens(profile string) string {
	return filepath.Join(p.State, profile, "screens")
}

// ProfileExports is where exports of a profile go.
func (p Paths) ProfileExports(profile string) string {
	return filepath.Join(p.Data, profile, "exports")
}

// ProfileKeys is the directory of a profile's encrypted file of keys.
func (p Paths) ProfileKeys(profile string) string { return filepath.Join(p.Data, profile, "keys") }

// ServiceData is the absolute data directory of a service for a team: the given one, else one below the user's data
// directory. getenv is os.Getenv outside tests.
func ServiceData(given string, getenv func(string) string) (string, error) {
	if given != "" {
		return filepath.Abs(given)
	}
	p, err := PathsFrom(getenv)
	if err != nil {
		return "", err
	}
	return filepath.Abs(p.ProfileData(serviceData))
}
