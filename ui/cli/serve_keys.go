package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"coffer/api"
	"coffer/api/text"
)

// KeysCommands does the work of `coffer serve keys`; main fills it in. Data is the data directory as given, "" for the
// default one.
type KeysCommands interface {
	Add(ctx context.Context, data string, r KeyRequest) (GivenKey, error)
	List(ctx context.Context, data string) ([]Key, error)
	// Rotate gives a key a new text; the old one stays valid for grace.
	Rotate(ctx context.Context, data, id string, grace time.Duration) (GivenKey, error)
	Revoke(ctx context.Context, data, id string) (Key, error)
}

// KeyRequest are the flags of `coffer serve keys add`. The key expires at Expires, or ExpiresIn from now, or never.
type KeyRequest struct {
	Company, Project, UseCase, Volume      string
	Chains, Assets, Permissions, Endpoints []string
	PerMinute, Concurrent, FundLimit       int
	Expires                                time.Time
	ExpiresIn                              time.Duration
	PublicTest                             bool
}

// Key is the printable part of a stored key, without its text: only its recipient has that. State is live, expired or
// revoked.
type Key struct {
	ID            string    `json:"id"`
	State         string    `json:"state"`
	Company       string    `json:"company"`
	Project       string    `json:"project"`
	UseCase       string    `json:"useCase"`
	Volume        string    `json:"volume"`
	Chains        []string  `json:"chains"`
	Assets        []string  `json:"assets"`
	Permissions   []string  `json:"permissions"`
	Endpoints     []string  `json:"endpoints"`
	PerMinute     int       `json:"perMinute"`
	Concurrent    int       `json:"concurrent"`
	FundLimit     int       `json:"fundLimit,omitzero"` // absent: the service's limit
	PublicTest    bool      `json:"publicTest"`
	Created       time.Time `json:"created"`
	Rotated       time.Time `json:"rotated,omitzero"`
	PreviousUntil time.Time `json:"previousUntil,omitzero"`
	Expires       time.Time `json:"expires,omitzero"`
	Revoked       time.Time `json:"revoked,omitzero"`
}

// GivenKey is a key with its text, which is printed only once.
type GivenKey struct {
	Text string `json:"key"`
	Key
}

func (p Program) keys() *cobra.Command {
	var data string
	cmd := Group(&cobra.Command{
		Use:   "keys",
		Short: "Make, list, rotate and revoke the API keys of a service",
		Long: `Changes the API keys that are stored in the data directory of a service, whether it runs or not: a
running one is reached through its local socket and knows the change at once. Only a digest of a key is stored. The
key itself is printed once.`,
		Example: `  coffer serve keys add --company "Ant Works" --project wallet
  coffer serve keys list
  coffer serve keys rotate k7q2m9xw --grace 24h
  coffer serve keys revoke k7q2m9xw`,
	}, p.keysAdd(&data), p.keysList(&data), p.keysRotate(&data), p.keysRevoke(&data))
	dataFlag(cmd.PersistentFlags(), &data)
	return cmd
}

func (p Program) keysAdd(data *string) *cobra.Command {
	var r KeyRequest
	var expires string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "add",
		Short: "Make a key and print it, once",
		Long: `Makes a key with permissions, endpoints, limits and an expiry, stores its digest and prints it. A
running service takes it at once; one that began without a stored key goes on taking the key that it printed as well.`,
		Example: `  coffer serve keys add --company "Ant Works" --project wallet --permission read --permission ` +
			`quote --limit 120 --expires 720h
  coffer serve keys add --public-test --expires 2027-01-31`,
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			if err := notEmpty(cmd, "permission", "endpoint", "expires", "chain", "asset"); err != nil {
				return err
			}
			if cmd.Flags().Changed("limit") && r.PerMinute == 0 {
				return &UsageError{
					Problem: "--limit takes a whole number from 1; a key that may do nothing is one to revoke"}
			}
			if cmd.Flags().Changed("fund-limit") && r.FundLimit == 0 {
				return &UsageError{Problem: "--fund-limit takes a whole number from 1; a key with --permission read " +
					"alone brings no test funds"}
			}
			if r.Expires, r.ExpiresIn, err = parseExpiry(expires); err != nil {
				return err
			}
			k, err := p.Keys.Add(cmd.Context(), *data, r)
			if err != nil {
				return asUsage(err)
			}
			return p.printGiven(k, asJSON)
		},
	}
	f := cmd.Flags()
	f.StringVar(&r.Company, "company", "", "`name` of the company that gets the key; required")
	f.StringVar(&r.Project, "project", "", "`name` of what it is for; required")
	f.StringVar(&r.UseCase, "use-case", "", "`text` about what the project does with it (noted)")
	f.StringVar(&r.Volume, "volume", "", "expected volume, a `text` such as \"5000 quotes a day\" (noted)")
	f.StringSliceVar(&r.Chains, "chain", nil,
		"preferred `chain` such as eip155:8453; may be given several times (noted: it restricts nothing)")
	f.StringSliceVar(&r.Assets, "asset", nil,
		"preferred `asset` such as ob:usdc, or in CAIP-19; may be given several times (noted: it restricts nothing)")
	f.StringSliceVar(&r.Permissions, "permission", nil,
		"what the key may do, `read, quote or execute`; may be given several times (default: all three)")
	f.StringSliceVar(&r.Endpoints, "endpoint", nil, "`path` that the key may use, without the base path, such as "+
		"/v3/quote/call-quote, or with a slash at the\nend, such as /v3/, all below it; may be given several times "+
		"(default: all)")
	f.IntVar(&r.PerMinute, "limit", 0, "`number` of requests in any 60 seconds, up to 60000 (default 400)")
	f.IntVar(&r.Concurrent, "concurrent", 0, "`number` of requests under way at once, up to 1000 (default: no bound)")
	f.IntVar(&r.FundLimit, "fund-limit", 0, "`number` of new addresses that get test funds through the key in any 24 "+
		"hours, up to 10000 (default: the service's\nown, `coffer serve --fund-limit`)")
	f.StringVar(&expires, "expires", "", "`when` the key ends: a duration such as 720h, the beginning of a day such "+
		"as 2027-01-31 (UTC), or a time such as\n2027-01-31T18:00:00Z (default: never)")
	f.BoolVar(&r.PublicTest, "public-test", false,
		"a key for all developers: 60 requests a minute, all endpoints; only --expires goes with it")
	JSONFlag(cmd, &asJSON)
	return cmd
}

func (p Program) keysList(data *string) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "List the keys, without the keys themselves",
		Long:    "Lists the id of each key with its state, limits and times. The text of a key is kept nowhere.",
		Example: "  coffer serve keys list\n  coffer serve keys list --data ./lab --json",
		RunE: func(cmd *cobra.Command, _ []string) error {
			all, err := p.Keys.List(cmd.Context(), *data)
			if err != nil {
				return err
			}
			if asJSON {
				return PrintJSON(p.Out, append([]Key{}, all...))
			}
			if len(all) == 0 {
				_, err = fmt.Fprintln(p.Err, "There are no keys. `coffer serve keys add` makes one.")
				return err
			}
			return p.printKeys(all)
		},
	}
	JSONFlag(cmd, &asJSON)
	return cmd
}

func (p Program) keysRotate(data *string) *cobra.Command {
	var grace time.Duration
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "rotate ID",
		Short: "Replace a key by a new one with the same limits, and print it",
		Long: "Issues a new secret for an API key and prints it once. Id, limits and expiry stay. The old one " +
			"ends at once, or with --grace later.",
		Example: "  coffer serve keys rotate k7q2m9xw --grace 24h",
		Args:    oneID(),
		RunE: func(cmd *cobra.Command, args []string) error {
			k, err := p.Keys.Rotate(cmd.Context(), *data, args[0], grace)
			if err != nil {
				return asUsage(err)
			}
			return p.printGiven(k, asJSON)
		},
	}
	cmd.Flags().DurationVar(&grace, "grace", 0,
		"how long the old key stays valid beside the new one, up to 720h (default: not at all)")
	JSONFlag(cmd, &asJSON)
	return cmd
}

func (p Program) keysRevoke(data *string) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "revoke ID",
		Short:   "Revoke a key at once",
		Long:    "Revokes a key for good. A running service refuses the next request with it.",
		Example: "  coffer serve keys revoke k7q2m9xw",
		Args:    oneID(),
		RunE: func(cmd *cobra.Command, args []string) error {
			k, err := p.Keys.Revoke(cmd.Context(), *data, args[0])
			if err != nil {
				return asUsage(err)
			}
			if asJSON {
				return PrintJSON(p.Out, k)
			}
			_, err = fmt.Fprintf(p.Out, "key %s is %s\n", k.ID, k.State)
			return err
		},
	}
	JSONFlag(cmd, &asJSON)
	return cmd
}

// dataFlag adds the data directory of a service.
func dataFlag(f *pflag.FlagSet, data *string) {
	f.StringVar(data, "data", "", "data `directory` of the service (default: below the user's data directory)")
}

// oneID takes the id of a key.
func oneID() cobra.PositionalArgs {
	return OneArg("id, as `coffer serve keys list` prints it")
}

// parseExpiry reads a duration, a day or a time.
func parseExpiry(s string) (at time.Time, in time.Duration, err error) {
	if s == "" {
		return at, 0, nil
	}
	if in, err = time.ParseDuration(s); err == nil && in > 0 {
		return at, in, nil
	}
	for _, layout := range []string{time.DateOnly, time.RFC3339} {
		if at, err = time.Parse(layout, s); err == nil {
			return at, 0, nil
		}
	}
	return time.Time{}, 0, &UsageError{
		Problem: "--expires takes a duration such as 720h, a day such as 2027-01-31, or a time in RFC 3339"}
}

// asUsage turns the service's refusal of a flag into a usage error.
func asUsage(err error) error {
	var e *api.Error
	if !errors.As(err, &e) || e.Name != api.ErrValidation {
		return err
	}
	if len(e.Details) == 0 {
		return &UsageError{Problem: text.Clean(e.Message, 500)}
	}
	var parts []string
	for _, d := range e.Details {
		part := flagOf(d.Path) + ": expected " + d.Expected
		if d.Got != "" {
			part += ", got " + text.Clean(d.Got, 80)
		}
		parts = append(parts, part)
	}
	return &UsageError{Problem: strings.Join(parts, "; ")}
}

// flagOf is the flag for a member of a request, such as --limit for perMinute and --permission for permissions[1].
func flagOf(member string) string {
	name, _, _ := strings.Cut(member, "[")
	switch name {
	case "id":
		return "ID"
	case "perMinute":
		return "--limit"
	case "fundLimit":
		return "--fund-limit"
	case "publicTest":
		return "--public-test"
	case "useCase":
		return "--use-case"
	case "chains", "assets", "permissions", "endpoints":
		return "--" + strings.TrimSuffix(name, "s")
	}
	return "--" + name
}

// printGiven prints a key, once.
func (p Program) printGiven(k GivenKey, asJSON bool) error {
	fmt.Fprintln(p.Err, "The key is shown this once: keep it now. Only its digest is stored.")
	if asJSON {
		return PrintJSON(p.Out, k)
	}
	fmt.Fprintf(p.Out, "id   %s\nkey  %s\n", k.ID, k.Text)
	if !k.PreviousUntil.IsZero() {
		fmt.Fprintf(p.Out, "the key before it is valid until %s\n", when(k.PreviousUntil))
	}
	return nil
}

func (p Program) printKeys(all []Key) error {
	w := Columns(p.Out)
	fmt.Fprintln(w, "ID\tSTATE\tCOMPANY\tPROJECT\tPERMISSIONS\tENDPOINTS\tA MINUTE\tCREATED\tEXPIRES")
	for _, k := range all {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%d\t%s\t%s\n", k.ID, k.State, cmp.Or(text.Clean(k.Company, 30), "-"),
			cmp.Or(text.Clean(k.Project, 30), "-"),
			strings.Join(k.Permissions, ","), cmp.Or(strings.Join(k.Endpoints, ","), "all"), k.PerMinute,
			when(k.Created), when(k.Expires))
	}
	return w.Flush()
}

func when(t time.Time) string {
	if t.IsZero() {
		return "never"
	}
	return t.UTC().Format("2006-01-02 15:04 UTC")
}
