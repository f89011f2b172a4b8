package operator

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"coffer/api"
	"coffer/api/network"
	"coffer/api/rpcpool"
	"coffer/api/service/pinned"
)

// State is what a finding means.
type State string

// The states of a finding. Without means that something is not there and what is off because of it; Missing that
// nothing works on this chain.
const (
	Good    State = "ok"
	Unknown State = "unknown" // it could not be found out
	Without State = "without"
	Missing State = "MISSING"
)

// MarshalText writes it in small letters, for programs.
func (s State) MarshalText() ([]byte, error) { return []byte(strings.ToLower(string(s))), nil }

// Finding is one line of what was found on a chain. Off is what does not work because of it.
type Finding struct {
	State State  `json:"state"`
	What  string `json:"what"`
	Found string `json:"found"`
	Off   string `json:"off,omitzero"`
}

// Report is what was found on one chain. ID is the number of an EVM chain, Chain the CAIP-2 id of a Solana chain.
type Report struct {
	ID       uint64    `json:"id,omitzero"`
	Chain    string    `json:"chain,omitzero"`
	Name     string    `json:"name"`
	Line     int       `json:"line"` // of the file
	Findings []Finding `json:"findings"`
}

func (r *Report) say(state State, what, off, found string, args ...any) {
	r.Findings = append(r.Findings, Finding{state, what, fmt.Sprintf(found, args...), off})
}

// missing counts what stops the chain.
func (r *Report) missing() (n int) {
	for _, f := range r.Findings {
		if f.State == Missing {
			n++
		}
	}
	return n
}

// An IncompleteError says that something is missing which a network needs.
type IncompleteError struct{ Things, Chains int }

func (e *IncompleteError) Error() string {
	return fmt.Sprintf("%s missing on %s: a network is not opened like this",
		plural(e.Things, "thing is", "things are"), plural(e.Chains, "chain", "chains"))
}

func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// Survey is what was found on the chains of a file. Idle are the chains without an endpoint, which are left out.
type Survey struct {
	File   string    `json:"file"`
	Ready  bool      `json:"ready"`
	Chains []*Report `json:"chains"`
	Idle   []string  `json:"leftOut,omitempty"`
}

// Look tries everything that a network needs of the nodes.
func Look(ctx context.Context, o Options) (*Survey, error) {
	file, all, done, err := o.nodes(ctx)
	defer done()
	if err != nil {
		return nil, err
	}
	if file.Operator != nil && len(file.Operator.Attesters) > 0 {
		if _, _, err := o.plan(ctx, file, all); err != nil {
			return nil, err
		}
	}
	s := &Survey{File: o.File, Chains: make([]*Report, len(all))}
	var ofSolana *Report
	beside := make(chan error, 1)
	go func() {
		beside <- o.solana(ctx, file, func(n *solanaNode) (err error) {
			ofSolana, err = n.check(ctx, o.Clock())
			return err
		})
	}()
	err = each(ctx, all, func(ctx context.Context, n *node) (err error) {
		s.Chains[slices.Index(all, n)], err = n.check(ctx, o.Clock())
		return err
	})
	for _, c := range file.Idle {
		s.Idle = append(s.Idle, c.Name)
	}
	if file.IdleSolana != nil {
		s.Idle = append(s.Idle, file.IdleSolana.Name)
	}
	if err = errors.Join(err, <-beside); err != nil {
		return nil, err
	}
	if ofSolana != nil {
		s.Chains = append(s.Chains, ofSolana)
	}
	s.Ready = s.Incomplete() == nil
	return s, nil
}

// Incomplete is an *IncompleteError when something is missing.
func (s *Survey) Incomplete() error {
	e := &IncompleteError{}
	for _, r := range s.Chains {
		if n := r.missing(); n > 0 {
			e.Things, e.Chains = e.Things+n, e.Chains+1
		}
	}
	if e.Things == 0 {
		return nil
	}
	return e
}

// Check is Look, and prints what it found. The error is an *IncompleteError when something is missing.
func Check(ctx context.Context, o Options) error {
	s, err := Look(ctx, o)
	if err != nil {
		return err
	}
	if err := o.print(s, s.table); err != nil {
		return err
	}
	return s.Incomplete()
}

// print prints a result: as one line of JSON where that was asked for.
func (o Options) print(result any, text func(io.Writer) error) error {
	if !o.JSON {
		return text(o.Out)
	}
	return printJSON(o.Out, result)
}

func printJSON(out io.Writer, result any) error {
	line, err := api.Encode(result)
	if err == nil {
		_, err = fmt.Fprintf(out, "%s\n", line.Raw())
	}
	return err
}

func (s *Survey) table(out io.Writer) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, r := range s.Chains {
		title := r.Name
		if r.ID != 0 {
			title += fmt.Sprintf(" (%d)", r.ID)
		}
		fmt.Fprintf(w, "%s\t\t%s:%d\n", title, s.File, r.Line)
		for _, f := range r.Findings {
			found := f.Found
			if f.Off != "" {
				found += "; " + f.Off
			}
			fmt.Fprintf(w, "  %s\t%s\t%s\n", f.State, f.What, found)
		}
		fmt.Fprintln(w)
	}
	if len(s.Idle) > 0 {
		fmt.Fprintf(w, "left out, without an endpoint: %s\n", strings.Join(s.Idle, ", "))
	}
	if s.Ready {
		fmt.Fprintln(w, "everything that is needed is there")
	}
	return w.Flush()
}

// behind is how old the newest block of a public chain may be.
const behind = 10 * time.Minute

// check tries everything on one chain. Its error is that of the context.
func (n *node) check(ctx context.Context, now time.Time) (*Report, error) {
	r := &Report{ID: n.ID, Name: n.Name, Line: n.Line}
	if !r.enough(n.endpoints(ctx, r), len(n.RPC), n.Quorum) {
		return r, ctx.Err()
	}
	head, err := n.block(ctx, "latest")
	if err != nil {
		r.say(Missing, "newest block", "", "%s", err)
		return r, ctx.Err()
	}
	age := now.Sub(time.Unix(int64(head.Time), 0)).Round(time.Second)
	state := Good
	if n.file.Kind != network.Lab && age > behind {
		state = Missing
	}
	r.say(state, "newest block", "", "%d, %s old", uint64(head.Number), max(age, 0))
	n.final(ctx, r, head)
	n.contracts(ctx, r)
	n.features(ctx, r, head)
	n.methods(ctx, r)
	n.archive(ctx, r, head)
	n.tokens(ctx, r)
	n.feeds(ctx, r, head)
	return r, ctx.Err()
}

// enough says when fewer endpoints answer than must agree.
func (r *Report) enough(up, all, quorum int) bool {
	if up < quorum {
		r.say(Missing, "endpoints", "", "%d of %d answer, and %s must agree", up, all,
			plural(quorum, "endpoint", "endpoints"))
	}
	return up >= quorum
}

// endpoints asks each endpoint for its chain and its newest block, and says how many answered.
func (n *node) endpoints(ctx context.Context, r *Report) (up int) {
	return r.endpoints(ctx, n.pool, fmt.Sprintf("chain %d, block", n.ID))
}

func (r *Report) endpoints(ctx context.Context, pool *rpcpool.Pool, at string) (up int) {
	health, err := pool.Probe(ctx)
	for _, h := range health {
		switch {
		case h.Fault != "" && h.HeadAt.IsZero():
			r.say(Without, h.Host, "this endpoint is not used", "%s", h.Fault)
		default:
			up++
			r.say(Good, h.Host, "", "%s %d, %s", at, h.Head, h.Latency.Round(time.Millisecond))
		}
	}
	if err != nil && len(health) == 0 {
		r.say(Missing, "endpoints", "", "%s", err)
	}
	return up
}

func (n *node) final(ctx context.Context, r *Report, head block) {
	if n.Final.Counted {
		r.say(Good, "final blocks", "", "counted: %s above", plural(int(n.Final.Blocks), "block", "blocks"))
		return
	}
	b, err := n.block(ctx, n.Final.String())
	if err != nil {
		r.say(Missing, "final blocks", "", "the node names none (%s): count blocks in the file, such as final = 20",
			because(err, ""))
		return
	}
	r.say(Good, "final blocks", "", "%d, %s behind the newest", uint64(b.Number),
		time.Duration(head.Time-min(head.Time, b.Time))*time.Second)
}

// off is what does not work without a contract.
var off = map[string]string{
	pinned.EntryPoint:         "nothing works without it",
	pinned.Window:             "nothing works without it",
	pinned.ECDSAValidator:     "no account works without it",
	pinned.KernelV31:          "no accounts " + api.AccountKernelV31 + " and " + api.AccountRoleBased,
	pinned.Factory:            "no accounts " + api.AccountKernelV31 + " and " + api.AccountRoleBased,
	pinned.MetaFactory:        "no accounts " + api.AccountKernelV31 + " and " + api.AccountRoleBased,
	pinned.KernelV33:          "no accounts " + api.AccountKernelV33,
	pinned.RoleBasedValidator: "no accounts " + api.AccountRoleBased,
	pinned.Filler:             "no operator works without it",
	pinned.Escrow:             "no operator works without it",
}

// contracts compares the code at the pinned addresses.
func (n *node) contracts(ctx context.Context, r *Report) {
	t, err := n.look(ctx)
	var differs *pinned.DifferenceError
	if errors.As(err, &differs) {
		for _, d := range differences(err) {
			r.say(Missing, d.Name, "nothing is done on this chain", "other code at %s: expected the hash %s, found %s",
				d.At.Hex(), d.Expected, d.Found)
		}
		return
	}
	if err != nil {
		r.say(Missing, "contracts", "", "%s", err)
		return
	}
	if n.file.Operator != nil && len(n.file.Operator.Attesters) == 0 {
		r.say(Missing, "attesters", off[pinned.Escrow], "none is named: coffer serve --networks says which its own is")
	}
	for _, c := range n.wanted {
		switch needed := strings.Contains(off[c.Name], "works"); {
		case t.has[c.Name]:
			r.say(Good, c.Name, "", "%s", c.At.Hex())
		case needed:
			r.say(Missing, c.Name, off[c.Name], "no code at %s", c.At.Hex())
		default:
			r.say(Without, c.Name, off[c.Name], "no code at %s", c.At.Hex())
		}
	}
	kernel := t.has[pinned.KernelV31] && t.has[pinned.Factory] && t.has[pinned.MetaFactory]
	switch {
	case kernel && t.approved:
		r.say(Good, "factory approved", "", "by the meta factory's owner")
	case kernel:
		r.say(Without, "factory approved", off[pinned.Factory], "not by the meta factory's owner, who alone can")
		kernel = false
	}
	if !kernel && !t.has[pinned.KernelV33] {
		r.say(Missing, "accounts", "", "no kind of account works here")
	}
	switch {
	case !t.deployer:
		r.say(Without, "deterministic deployer", "`coffer network deploy` cannot put contracts there",
			"no code at %s", deployer().Hex())
	case len(t.missing) > 0:
		r.say(Good, "deterministic deployer", "", "`coffer network deploy` puts there what is not there")
	default:
		r.say(Good, "deterministic deployer", "", "%s", deployer().Hex())
	}
}

// differences are all of those in an error.
func differences(err error) (all []*pinned.DifferenceError) {
	var d *pinned.DifferenceError
	if many, ok := err.(interface{ Unwrap() []error }); ok {
		for _, e := range many.Unwrap() {
			all = append(all, differences(e)...)
		}
	} else if errors.As(err, &d) {
		all = append(all, d)
	}
	return all
}
