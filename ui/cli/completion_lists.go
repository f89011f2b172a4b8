package cli

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"coffer/api/caip"
	"coffer/api/networks"
	"coffer/config"
	"coffer/config/contacts"
	"coffer/ui/compose"
	"coffer/wallet/journal"
)

// with adds a description to a word.
func with(word, says string) cobra.Completion { return cobra.CompletionWithDesc(word, says) }

// profiles are the profiles of the configuration.
func (v values) profiles(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	_, f, err := config.Find(v.p.getenv)
	if err != nil {
		return nil, noFiles
	}
	var out []cobra.Completion
	for _, name := range slices.Sorted(maps.Keys(f.Profiles)) {
		says := string(f.Profiles[name].Kind)
		if name == f.Default {
			says += ", the default"
		}
		out = append(out, with(name, says))
	}
	return out, noFiles
}

// profile is the profile that the command line names so far.
func (v values) profile(c *cobra.Command) (config.Paths, config.Profile, error) {
	paths, f, err := config.Find(v.p.getenv)
	if err != nil {
		return paths, config.Profile{}, err
	}
	name := v.p.getenv(config.EnvProfile)
	if flag := c.Flag("profile"); flag != nil && flag.Changed {
		name = flag.Value.String()
	}
	p, err := f.Profile(name)
	return paths, p, err
}

// accounts are the names of the profile's accounts; a lane is of an address.
func (v values) accounts(c *cobra.Command, _ []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	_, p, err := v.profile(c)
	if err != nil || c.Name() == "repair" {
		return nil, noFiles
	}
	var out []cobra.Completion
	for _, a := range p.Accounts {
		if a.Name != "" {
			out = append(out, with(a.Name, a.Type))
		}
	}
	return out, noFiles
}

// nodeKeys are the names of keys in the profile's networks.toml, with their hosts.
func (v values) nodeKeys(c *cobra.Command, _ []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	_, p, err := v.profile(c)
	if err != nil || !p.OwnNodes() {
		return nil, noFiles
	}
	file, err := networks.Load(p.Networks)
	if err != nil {
		return nil, noFiles
	}
	var out []cobra.Completion
	for _, n := range file.Needs() {
		out = append(out, with(n.Name, n.Host))
	}
	return out, noFiles
}

// chains are the chains of the catalogue: short names and ids, and "all" where that is a value.
func (v values) chains(c *cobra.Command, _ []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	accounts, service := strings.HasPrefix(c.CommandPath(), "coffer accounts"),
		strings.HasPrefix(c.CommandPath(), "coffer serve")
	var names, ids []cobra.Completion
	if accounts {
		names = append(names, with("all", "every EVM chain"))
	}
	list := v.cat.Chains()
	if !accounts && c.Name() != "call" && c.Name() != "pay" {
		list = append(list, v.cat.Solana())
	}
	for _, k := range list {
		if !accounts && !service { // these two take ids alone
			names = append(names, with(k.Short, k.Name))
		}
		ids = append(ids, with(k.Chain.String(), k.Name))
	}
	return append(names, ids...), inOrder
}

// assets are the assets of the catalogue: symbols and ids over all chains, and after a symbol and an @ the chains of
// the asset.
func (v values) assets(c *cobra.Command, _ []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if strings.Contains(typed, "@") {
		return v.onChain(c, nil, typed)
	}
	service := strings.HasPrefix(c.CommandPath(), "coffer serve")
	var out []cobra.Completion
	for _, a := range v.cat.Aggregates() {
		if !service {
			out = append(out, with(strings.ToLower(a.Symbol), a.Name+", from all chains; @ and a chain for one"))
		}
	}
	for _, a := range v.cat.Aggregates() {
		out = append(out, with(a.ID.String(), a.Name))
	}
	return out, inOrder
}

// onChain are assets with their chain, such as usdc@base.
func (v values) onChain(_ *cobra.Command, _ []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
	short := map[caip.Chain][2]string{}
	for _, k := range append(v.cat.Chains(), v.cat.Solana()) {
		short[k.Chain] = [2]string{k.Short, k.Name}
	}
	wanted, _, one := strings.Cut(strings.ToLower(typed), "@")
	var out []cobra.Completion
	for _, a := range v.cat.Aggregates() {
		if symbol := strings.ToLower(a.Symbol); !one || symbol == wanted {
			for _, e := range a.Entities {
				k := short[e.Asset.Chain]
				out = append(out, with(symbol+"@"+k[0], a.Name+" on "+k[1]))
			}
		}
	}
	return out, inOrder
}

// contacts are the names of the person's contacts, with their addresses.
func (v values) contacts(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	paths, err := config.PathsFrom(v.p.getenv)
	if err != nil {
		return nil, noFiles
	}
	book, _ := contacts.Load(contacts.Path(paths.Config))
	var out []cobra.Completion
	for _, c := range book {
		out = append(out, with(c.Name, c.Address))
	}
	return out, inOrder
}

// recipients are the contacts, for a call after the tokens of its chain; a sweep takes an address alone.
func (v values) recipients(c *cobra.Command, args []string, typed string) ([]cobra.Completion,
	cobra.ShellCompDirective) {
	if strings.HasPrefix(c.CommandPath(), "coffer accounts") {
		return nil, noFiles
	}
	out, how := v.contracts(c, args, typed)
	names, _ := v.contacts(c, args, typed)
	return append(out, names...), how
}

// contracts are the tokens on the chain of a call; the user has to type any other address.
func (v values) contracts(c *cobra.Command, _ []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	chain := c.Flag("chain")
	if chain == nil || c.Name() != "call" && c.Name() != "plan" {
		return nil, noFiles
	}
	w := compose.World{Catalog: v.cat}
	on, problem := w.Chain(chain.Value.String())
	if problem != "" || on.IsSolana() {
		return nil, inOrder
	}
	var out []cobra.Completion
	for _, e := range w.AssetsOn(on, false) {
		agg, _ := v.cat.Aggregate(e.Aggregate)
		out = append(out, with(strings.ToLower(agg.Symbol), e.Name+" on "+w.ChainName(on)))
	}
	return out, inOrder
}

// faults are the faults that the service knows. One that takes a value ends with its =.
func (v values) faults(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	how := noFiles
	var out []cobra.Completion
	for _, line := range v.p.FaultHelp {
		head, says, _ := strings.Cut(line, " ")
		name, _, valued := strings.Cut(head, "=")
		if valued {
			name, how = name+"=", how|cobra.ShellCompDirectiveNoSpace
		}
		out = append(out, with(name, strings.TrimSpace(says)))
	}
	return out, how
}

// operations are the ids of the journal's operations and of their quotes, the newest first.
func (v values) operations(c *cobra.Command, _ []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return v.recorded(c, func(op journal.Operation) (out []cobra.Completion) {
		says := strings.ToLower(strings.ReplaceAll(string(op.State), "_", " ")) + ", " +
			op.Updated.UTC().Format(time.DateTime)
		out = append(out, with(op.ID, says))
		if op.QuoteID != "" && strings.HasPrefix(typed, "0") {
			out = append(out, with(op.QuoteID, says))
		}
		return out
	})
}

// quotes are the quotes of the journal that payments were signed for, newest first.
func (v values) quotes(c *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return v.recorded(c, func(op journal.Operation) (out []cobra.Completion) {
		signed := slices.ContainsFunc(op.Signatures, func(s journal.Signature) bool { return s.QuoteID != "" })
		if signed && !slices.Contains(args, op.QuoteID) {
			out = append(out, with(op.QuoteID, op.Updated.UTC().Format(time.DateTime)))
		}
		return out
	})
}

// recorded completes with what each operation of the journal offers, the newest first.
func (v values) recorded(c *cobra.Command, offers func(journal.Operation) []cobra.Completion) ([]cobra.Completion,
	cobra.ShellCompDirective) {
	book, err := v.journal(c)
	if err != nil {
		return nil, noFiles
	}
	defer func() { _ = book.Close() }()
	var out []cobra.Completion
	for _, op := range slices.Backward(book.Operations()) {
		out = append(out, offers(op)...)
	}
	return out, inOrder
}

// journal opens the journal of the profile for reading: without its lock, and without the service.
func (v values) journal(c *cobra.Command) (*journal.Journal, error) {
	paths, profile, err := v.profile(c)
	if err != nil {
		return nil, err
	}
	id := profile.NetworkID
	if profile.Embedded() {
		profile.NetworkFile = filepath.Join(paths.ProfileData(profile.Name), embeddedNetwork)
	}
	if id == "" {
		n, err := profile.Network()
		if err != nil {
			return nil, err
		}
		id = n.ID
	}
	return journal.OpenReadOnly(paths.ProfileState(profile.Name),
		journal.Options{Network: id, Kind: profile.Kind, Clock: time.Now, Random: noRandom{}})
}

// embeddedNetwork is the name under which an embedded service writes its network.
const embeddedNetwork = "network.json"

// noRandom is a source of randomness for code that creates nothing.
type noRandom struct{}

func (noRandom) Read([]byte) (int, error) { return 0, os.ErrInvalid }
