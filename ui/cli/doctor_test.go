package cli_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"coffer/ui/cli"
	"coffer/ui/doctor"
)

func doctored(t *testing.T, found []doctor.Finding, args ...string) (string, error) {
	t.Helper()
	var out, errs strings.Builder
	p := cli.Program{Out: &out, Err: &errs, Env: []string{"HOME=/home/alice"},
		Doctor: func(context.Context, cli.Global) ([]doctor.Finding, doctor.Deps, error) {
			return found, doctor.Deps{Clock: func() time.Time { return time.Unix(0, 0) }, Home: "/home/alice"}, nil
		}}
	err := p.Run(t.Context(), append([]string{"doctor"}, args...))
	return out.String(), err
}

func TestTheDoctorPrintsEachFindingAndFailsWhenSomethingIsBad(t *testing.T) {
	well := []doctor.Finding{{Area: doctor.AreaService, Name: "reached", Text: "in 12 ms"},
		{Area: doctor.AreaKeys, Name: "vault", Level: doctor.Unknown, Text: "locked"}}
	out, err := doctored(t, well)
	if want := "Service\n  good     reached: in 12 ms\nKeys\n  unknown  vault: locked\n"; err != nil || out != want {
		t.Errorf("%v %q", err, out)
	}
	ill := append(well, doctor.Finding{Area: doctor.AreaFiles, Name: "mode", Level: doctor.Bad,
		Text: "/home/alice/x may be written by others\x1b[2J", Todo: "chmod go-w /home/alice/x"})
	out, err = doctored(t, ill)
	if !errors.Is(err, cli.ErrUnwell) || cli.Code(err) != cli.ExitFailed ||
		!strings.Contains(out, "           chmod go-w") || strings.Contains(out, "\x1b") {
		t.Errorf("%v %q", err, out)
	}
	out, err = doctored(t, ill, "--report")
	if !errors.Is(err, cli.ErrUnwell) || strings.Contains(out, "alice") ||
		!strings.Contains(out, "~/x may be written") {
		t.Errorf("%v %q", err, out)
	}
	out, err = doctored(t, ill, "--json")
	var rows []map[string]string
	if !errors.Is(err, cli.ErrUnwell) || json.Unmarshal([]byte(out), &rows) != nil || len(rows) != 3 ||
		rows[2]["level"] != "bad" || rows[0]["area"] != doctor.AreaService {
		t.Errorf("%v %q", err, out)
	}
}

// The doctor finds faults of the environment as well, and never shows values.
func TestTheDoctorLooksAtTheEnvironment(t *testing.T) {
	for name, part := range map[string]string{
		"COFFER_PASSPHRASE=hunter2": "COFFER_PASSPHRASE: ignored, no variable takes a secret",
		"XDG_DATA_HOME=here":        "XDG_DATA_HOME: ignored, it is a relative path",
		"COFFER_PROFIL=team":        "COFFER_PROFIL: no setting",
	} {
		var out, errs strings.Builder
		p := cli.Program{Out: &out, Err: &errs, Env: []string{"HOME=/h", name},
			Doctor: func(context.Context, cli.Global) ([]doctor.Finding, doctor.Deps, error) {
				return nil, doctor.Deps{}, nil
			}}
		if err := p.Run(t.Context(), []string{"doctor"}); err != nil ||
			!strings.Contains(out.String(), "look     environment: "+part) ||
			strings.Contains(out.String()+errs.String(), "hunter2") {
			t.Errorf("%v\n%s", err, &out)
		}
	}
}
