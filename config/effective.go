package config

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
)

// Sources of a setting.
const (
	FromDefault     = "default"
	FromFile        = "file"
	FromEnvironment = "environment"
	FromCommand     = "command line"
)

// Effective is one setting as it holds now. Value is nil when it is not set and has no default. Where is path:line for
// a setting of the file, the name of a variable, or the name of a flag; "" for a default.
type Effective struct {
	Key    string `json:"key"`
	Value  any    `json:"value"`
	Source string `json:"source"`
	Where  string `json:"where,omitempty"`
}

// Show lists every setting that holds for a profile, with its source: the places, the profile, its settings and those
// of the screens. profile is the value of --profile, "" without it. The list holds no secret: of signer_command it
// shows only the program, because users may put a secret into the arguments.
//
// Errors: those of PathsFrom and Load; a profile that does not exist.
func Show(getenv func(string) string, profile string) ([]Effective, error) {
	paths, err := PathsFrom(getenv)
	if err != nil {
		return nil, err
	}
	f, err := Load(paths.Config)
	if err != nil {
		return nil, err
	}
	data, err := os.ReadFile(paths.Config)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read configuration: %w", err)
	}
	s := shown{getenv: getenv, path: paths.Config, data: unmarked(data)}
	s.places(paths)
	p, err := s.profile(f, profile)
	if err != nil {
		return nil, err
	}
	s.settings(p, f.UI)
	return s.list, nil
}

// shown collects the settings to show.
type shown struct {
	getenv func(string) string
	path   string
	data   []byte
	list   []Effective
}

func (s *shown) places(paths Paths) {
	for _, one := range []struct{ key, value, own, xdg string }{
		{"places.configuration", paths.Config, EnvConfig, "XDG_CONFIG_HOME"},
		{"places.data", paths.Data, EnvData, "XDG_DATA_HOME"},
		{"places.state", paths.State, EnvData, "XDG_STATE_HOME"},
	} {
		e := Effective{Key: one.key, Value: one.value, Source: FromDefault}
		switch {
		case s.getenv(one.own) != "":
			e.Source, e.Where = FromEnvironment, one.own
		case filepath.IsAbs(s.getenv(one.xdg)):
			e.Source, e.Where = FromEnvironment, one.xdg
		}
		s.list = append(s.list, e)
	}
}

// profile finds the profile in use and where that choice comes from.
func (s *shown) profile(f File, flag string) (Profile, error) {
	e := Effective{Key: "profile", Source: FromDefault}
	name := flag
	switch {
	case flag != "":
		e.Source, e.Where = FromCommand, "--profile"
	case s.getenv(EnvProfile) != "":
		e.Source, e.Where, name = FromEnvironment, EnvProfile, s.getenv(EnvProfile)
	default:
		e.Source, e.Where = s.source("default")
	}
	p, err := f.Profile(name)
	e.Value = p.Name
	s.list = append(s.list, e)
	return p, err
}

// source looks a key up in the file.
func (s *shown) source(key ...string) (source, where string) {
	if line, _ := place(s.data, key); line > 0 {
		return FromFile, fmt.Sprintf("%s:%d", s.path, line)
	}
	return FromDefault, ""
}

func (s *shown) settings(p Profile, ui UI) {
	prefix := []string{"profiles", p.Name}
	s.values(reflect.ValueOf(p), prefix, "profiles.*")
	for i, a := range p.Accounts {
		v := reflect.ValueOf(a)
		for f := range fieldsOf(v.Type()) {
			if !v.Field(f.index).IsZero() {
				s.list = append(s.list, Effective{Key: fmt.Sprintf("%s.accounts[%d].%s", strings.Join(prefix, "."), i,
					f.name), Value: v.Field(f.index).String(), Source: FromFile, Where: s.path})
			}
		}
	}
	s.values(reflect.ValueOf(ui), []string{"ui"}, "ui")
	for _, name := range slices.Sorted(maps.Keys(ui.Keys)) {
		s.one([]string{"ui", "keys", name}, ui.Keys[name])
	}
	for _, name := range slices.Sorted(maps.Keys(ui.Colors)) {
		s.one([]string{"ui", "colors", name}, string(ui.Colors[name]))
	}
}

// values lists the values of a struct that are no tables; said is its name in Settings.
func (s *shown) values(v reflect.Value, key []string, said string) {
	for f := range fieldsOf(v.Type()) {
		fv := v.Field(f.index)
		if fv.Kind() == reflect.Pointer {
			fv = fv.Elem()
		}
		own := append(slices.Clone(key), f.name)
		switch {
		case fv.Kind() == reflect.Map, fv.Kind() == reflect.Slice && fv.Type().Elem().Kind() == reflect.Struct:
		case !fv.IsValid() || fv.IsZero() && fv.Kind() != reflect.Bool:
			s.one(own, fallback(settingWords()[said+"."+f.name].Default))
		default:
			s.one(own, harmless(f.name, fv))
		}
	}
}

func (s *shown) one(key []string, value any) {
	e := Effective{Key: strings.Join(key, "."), Value: value}
	e.Source, e.Where = s.source(key...)
	s.list = append(s.list, e)
}

// fallback reads a default as TOML writes it; nil for none.
func fallback(written string) any {
	switch written {
	case "":
		return nil
	case "true", "false":
		return written == "true"
	}
	return strings.Trim(written, `"`)
}

// harmless is a value without the parts that may be secret.
func harmless(name string, v reflect.Value) any {
	switch v.Kind() {
	case reflect.Bool:
		return v.Bool()
	case reflect.Slice:
		if name == "signer_command" && v.Len() > 1 {
			return fmt.Sprintf("%s and %d arguments", v.Index(0), v.Len()-1)
		}
		var parts []string
		for i := range v.Len() {
			parts = append(parts, v.Index(i).String())
		}
		return strings.Join(parts, " ")
	}
	return v.String()
}
