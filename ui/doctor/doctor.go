// Package doctor examines everything between the user and a working wallet, and reports for each thing whether it is
// well, what is wrong and what to do: the service (reached, how fast, over which TLS, its clock, the API key, its
// chains, whether it is the network of the profile), the place of the keys, the files and their modes, the terminal
// and the program itself.
//
// Promise: it changes nothing, signs nothing and shows no secret. What it cannot determine is Unknown, never Good.
// Text of a service or a file passes api/text before it enters a finding. Report leaves out addresses, hosts and home
// directories, so that the user can hand it to other people.
//
// Inputs are functions and values of the caller (Deps); a nil one leaves its findings out or makes them Unknown.
// Durations are wall time. Sources: TH-C3, K7, KR2, N1, N3, Z2; protocol §4.2.
package doctor

import (
	"context"
	"crypto/tls"
	"fmt"
	"slices"
	"time"

	"coffer/api"
	"coffer/api/catalog"
	"coffer/api/client"
	"coffer/api/network"
	"coffer/api/text"
	"coffer/config"
)

// Level is how well a thing is.
type Level int

// The levels. Unknown means that the state could not be determined.
const (
	Good Level = iota
	Warn
	Bad
	Unknown
)

// String is the level in one word.
func (l Level) String() string {
	switch l {
	case Good:
		return "good"
	case Warn:
		return "look"
	case Bad:
		return "bad"
	}
	return "unknown"
}

// MarshalText is String.
func (l Level) MarshalText() ([]byte, error) { return []byte(l.String()), nil }

// Areas of findings, in the order of Run.
const (
	AreaService  = "Service"
	AreaNetwork  = "Network"
	AreaKeys     = "Keys"
	AreaFiles    = "Files"
	AreaTerminal = "Terminal"
	AreaProgram  = "Program"
)

// Finding is one line: what was examined, what was found, and what to do about it ("" for nothing).
type Finding struct {
	Area  string `json:"area"`
	Name  string `json:"name"`
	Level Level  `json:"level"`
	Text  string `json:"text"`
	Todo  string `json:"todo,omitempty"`
}

// is sets what was found and what to do about it.
func (f *Finding) is(l Level, text, todo string) { f.Level, f.Text, f.Todo = l, text, todo }

// Service is what the doctor asks a service; *client.Client is one.
type Service interface {
	Chains(ctx context.Context) ([]api.SupportedChain, error)
	PredictAddress(ctx context.Context, r api.PredictRequest) (api.PredictResponse, error)
	Balances(ctx context.Context, q client.BalanceQuery) (api.AggregatedBalance, error)
	Skew() time.Duration
	Proxy() string
}

// Keys is the state of the vault: where it is in words, whether it works, whether it was set up and is locked. Err is
// why its state is unknown.
type Keys struct {
	Where  string
	Setup  bool
	Locked bool
	Err    error
	// None means that the profile keeps no keys; Command that another program signs.
	None, Command bool
}

// AccountKey reports whether the key that signs for an account is in the vault. Why explains why that is not Known.
type AccountKey struct {
	Account, Signer string
	Name            string // "" for the only account without one
	Here, Known     bool
	Wrong           bool // the passphrase that the command was given does not open the keys
	Why             string
}

// Build describes what the program was built from.
type Build struct {
	Version, Revision, Go, System string
	Modified                      bool
}

// Tank is what the gas tank of own nodes has on a chain, as an amount with its symbol, and for about how many
// operations it is good.
type Tank struct {
	Chain, Has string
	Operations uint64
}

// Words say it in one line.
func (t Tank) Words() string {
	of := "operations"
	if t.Operations == 1 {
		of = "operation"
	}
	return fmt.Sprintf("%s on %s, good for about %d %s", t.Has, t.Chain, t.Operations, of)
}

// Lane is the way of the gas tank's transactions to one chain. Why says why it sends nothing, "" when it does; Stopped,
// that it stays so until its owner decides. Known are the lines to decide from.
type Lane struct {
	ChainID uint64
	Chain   string
	Stopped bool
	Why     string
	Known   []string
}

// Deps is what Run examines.
type Deps struct {
	Clock   func() time.Time
	Profile config.Profile
	Paths   config.Paths
	Network network.Descriptor
	Catalog *catalog.Catalog
	Service Service // nil: it could not be opened, and Broken has the reason
	Broken  error   // why there is no service
	Todo    string  // what to do about that; "" when it says so itself
	// Unread are the findings about what has to be read first: the directories and the configuration. With one that is
	// bad the rest is left out.
	Unread []Finding
	// Writable tries to write to a directory, or to the nearest one above that is there; nil: it is not tried.
	Writable func(dir string) error
	Query    client.BalanceQuery // what the accounts of the profile hold
	// TLS makes a separate connection to the service and returns its protection; nil for a service inside this
	// program.
	TLS  func(ctx context.Context) (tls.ConnectionState, error)
	Keys func(ctx context.Context) Keys
	// AccountKeys looks for the key of every account of the profile; nil leaves it out.
	AccountKeys func(ctx context.Context) []AccountKey
	Policy      func() error // reads the policy file of the profile; nil without one
	Journal     func() error // returns why nothing can be recorded in the journal; nil: it is not examined
	Unconfirmed error        // why nothing is signed before a changed network is confirmed; nil: it is
	// Tanks tells what pays for gas on own nodes; nil on other networks.
	Tanks func(context.Context) ([]Tank, error)
	// Lanes tells whether they send; nil on other networks.
	Lanes    func(context.Context) ([]Lane, error)
	Pins     func() error // compares the pins of the network with those that the program ships
	Terminal Terminal
	Build    Build
	Home     string // home directory, for Report
}

// Run examines everything. It takes as long as the service does, at most about half a minute.
func Run(ctx context.Context, d Deps) []Finding {
	if len(d.Unread) > 0 {
		return append(append(d.Unread, d.Terminal.findings()...), d.build())
	}
	out := Reach(ctx, d)
	out = append(out, d.tanks(ctx)...)
	out = append(out, d.lanes(ctx)...)
	out = append(out, d.pins()...)
	out = append(out, d.keys(ctx)...)
	out = append(out, d.accountKeys(ctx)...)
	out = append(out, d.files()...)
	out = append(out, d.Terminal.findings()...)
	out = append(out, d.build())
	areas := []string{AreaService, AreaNetwork, AreaKeys, AreaFiles, AreaTerminal, AreaProgram}
	slices.SortStableFunc(out, func(a, b Finding) int {
		return slices.Index(areas, a.Area) - slices.Index(areas,
			b.Area)
	})
	return out
}

// maxText bounds the part of an error that a finding repeats, in characters.
const maxText = 300

func words(err error) string { return text.Clean(err.Error(), maxText) }

// lowTank is below how many operations a gas tank is low.
const lowTank = 10

// tanks examines what pays for gas on own nodes.
func (d Deps) tanks(ctx context.Context) (out []Finding) {
	if d.Tanks == nil {
		return nil
	}
	list, err := d.Tanks(ctx)
	for _, t := range list {
		f := Finding{Area: AreaService, Name: "gas", Text: "the gas tank has " + text.Clean(t.Words(), maxText)}
		if t.Operations < lowTank {
			f.Level, f.Todo = Warn, "send coins there to the gas tank: "+d.Network.Pins.Operator.Hex()
		}
		out = append(out, f)
	}
	if err != nil {
		out = append(out, Finding{Area: AreaService, Name: "gas", Level: Unknown, Text: words(err)})
	}
	return out
}

// lanes examines whether what pays for gas sends. Only what does not is a finding: an error is one of tanks, too.
func (d Deps) lanes(ctx context.Context) (out []Finding) {
	if d.Lanes == nil {
		return nil
	}
	list, _ := d.Lanes(ctx)
	for _, l := range list {
		f := Finding{Area: AreaService, Name: "gas"}
		if l.Stopped {
			f.is(Bad, text.Clean("the gas tank sends nothing on "+l.Chain+": "+l.Why, maxText),
				fmt.Sprintf("find out what used its key, then let it go on: coffer network resume %d --profile %s",
					l.ChainID, d.Profile.Name))
			out = append(out, f)
		} else if l.Why != "" {
			f.is(Warn, text.Clean("the gas tank waits on "+l.Chain+": "+l.Why, maxText),
				"wait until it is explained; when another program uses the same key, stop one of them")
			out = append(out, f)
		}
	}
	return out
}

func (d Deps) pins() []Finding {
	if d.Pins == nil {
		return nil
	}
	f := Finding{Area: AreaNetwork, Name: "addresses",
		Text: "the fixed addresses of the network are those that this program ships"}
	if err := d.Pins(); err != nil {
		f.is(Bad, words(err), "compare the fingerprint of the network file with the operator's; "+
			"nothing is signed on a network with other addresses")
	}
	if d.Unconfirmed == nil {
		return []Finding{f}
	}
	changed := Finding{Area: AreaNetwork, Name: "changed"}
	changed.is(Bad, words(d.Unconfirmed), "read what changed and confirm it: coffer profile confirm --profile "+
		d.Profile.Name)
	return []Finding{f, changed}
}

func (d Deps) keys(ctx context.Context) []Finding {
	if d.Keys == nil {
		return nil
	}
	k := d.Keys(ctx)
	f := Finding{Area: AreaKeys, Name: "vault", Text: k.Where}
	switch {
	case k.Command:
		f.is(Unknown, "another program signs (signer_command); it is asked when something is signed",
			"sign something small to try it")
	case k.None:
		f.Text = "no keys are stored: this profile reads and quotes; only the demo profile signs"
	case k.Err != nil:
		f.is(Bad, k.Where+": "+words(k.Err),
			"see `coffer keys probe`; nothing was stored anywhere else")
	case !k.Setup:
		f.is(Warn, k.Where+", not set up", "run: coffer keys init --profile "+d.Profile.Name)
	case k.Locked:
		f.Text = k.Where + ", locked: the next signature asks for the passphrase"
	default:
		f.Text = k.Where + ", unlocked"
	}
	return []Finding{f}
}

// accountKeys reports for each account whether it can sign here.
func (d Deps) accountKeys(ctx context.Context) []Finding {
	if d.AccountKeys == nil {
		return nil
	}
	var out []Finding
	for _, k := range d.AccountKeys(ctx) {
		if k.Name != "" {
			k.Account = text.Clean(k.Name, maxText) + ", " + k.Account
		}
		f := Finding{Area: AreaKeys, Name: "account", Text: k.Account + ": its key is here"}
		switch {
		case !k.Known:
			f.Level, f.Text = Unknown, k.Account+": whether the key of "+k.Signer+" is here is not known: "+
				text.Clean(k.Why, maxText)
			f.Todo = "unlock the keys to know: coffer doctor --passphrase-fd N, or coffer keys list, --profile " +
				d.Profile.Name
			if k.Wrong {
				f.Level, f.Todo = Bad, "try the passphrase on a terminal: coffer keys list --profile "+d.Profile.Name
			}
		case !k.Here:
			f.Level, f.Text = Warn, k.Account+": watch-only until the key of "+k.Signer+
				" is in the vault: nothing can be signed"
			f.Todo = "bring it: coffer keys import --profile " + d.Profile.Name
		}
		out = append(out, f)
	}
	return out
}

func (d Deps) build() Finding {
	b := d.Build
	f := Finding{Area: AreaProgram, Name: "version", Text: "coffer " + b.Version}
	if b.Revision != "" {
		f.Text += ", revision " + b.Revision[:min(len(b.Revision), 12)]
	}
	f.Text += ", " + b.Go + " on " + b.System
	if b.Modified {
		f.is(Warn, f.Text+", with local changes", "a build that others can repeat has none")
	}
	if b.Version == "" || b.Version == "unknown" {
		f.Level = Unknown
	}
	return f
}
