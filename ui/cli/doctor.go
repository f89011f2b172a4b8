package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"coffer/api/text"
	"coffer/ui/doctor"
)

// ErrUnwell means that the doctor found a fault, which it printed.
var ErrUnwell = errors.New("something needs attention, see above")

// examined is a finding as `coffer doctor --json` prints it. Level is good, look, bad or unknown.
type examined struct {
	Area  string `json:"area"`
	Name  string `json:"name"`
	Level string `json:"level"`
	Text  string `json:"text"`
	Todo  string `json:"todo,omitempty"`
}

// doctor is the command that examines everything between the user and a working wallet.
func (p Program) doctor(g *Global) *cobra.Command {
	var asJSON, report bool
	c := &cobra.Command{
		Use:   "doctor",
		Short: "Look at everything between you and a working wallet",
		Long: `Looks at the service (reached, how fast, over which TLS, its clock, the API key, its chains), the
network, the place of the keys, the files and their modes, the terminal and the program, and says what to do. It
changes nothing and signs nothing. The exit code is 1 when something is bad.`,
		Example: `  coffer doctor
  coffer doctor --report     without addresses, hosts and directories, to hand to somebody
  coffer doctor --json`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if asJSON && report {
				return Misused(cmd, "--json and --report are two forms: choose one")
			}
			found, d, err := p.Doctor(cmd.Context(), *g)
			if err != nil {
				return err
			}
			if f := doctor.Environment(p.environ()); f.Level != doctor.Good {
				found = append(found, f)
			}
			switch {
			case asJSON:
				err = p.examinedJSON(found)
			case report:
				_, err = fmt.Fprint(p.Out, doctor.Report(found, d))
			default:
				err = p.examined(found)
			}
			if err == nil && !doctor.Well(found) {
				err = ErrUnwell
			}
			return err
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print the findings as a JSON array")
	c.Flags().BoolVar(&report, "report", false, "leave out addresses, hosts and directories")
	return c
}

// Examine answers `coffer doctor`: the findings, and what was examined.
type Examine func(ctx context.Context, g Global) ([]doctor.Finding, doctor.Deps, error)

func (p Program) examined(found []doctor.Finding) error {
	const width = 400
	area := ""
	for _, f := range found {
		if f.Area != area {
			area = f.Area
			fmt.Fprintf(p.Out, "%s\n", area)
		}
		if _, err := fmt.Fprintf(p.Out, "  %-8s %s: %s\n", f.Level, f.Name, text.Clean(f.Text, width)); err != nil {
			return err
		}
		if f.Todo != "" {
			fmt.Fprintf(p.Out, "           %s\n", text.Clean(f.Todo, width))
		}
	}
	return nil
}

func (p Program) examinedJSON(found []doctor.Finding) error {
	out := make([]examined, len(found))
	for i, f := range found {
		out[i] = examined{f.Area, f.Name, f.Level.String(), f.Text, f.Todo}
	}
	b, err := json.MarshalIndent(out, "", "  ")
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(p.Out, "%s\n", b)
	return err
}
