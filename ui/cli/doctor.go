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
  coffer doctor --report     without addresses, hosts and directories, to hand to someone
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
				_, err = fmt.Fprint(p.Out, doctor.Text(found, "",
					func(s string) string { return text.Clean(s, maxFound) }))
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

// maxFound bounds a text of a finding, in characters.
const maxFound = 400

func (p Program) examinedJSON(found []doctor.Finding) error {
	b, err := json.MarshalIndent(append([]doctor.Finding{}, found...), "", "  ")
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(p.Out, "%s\n", b)
	return err
}
