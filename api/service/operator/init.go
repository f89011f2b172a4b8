package operator

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api/amount"
	"coffer/api/caip"
	"coffer/api/files"
	"coffer/api/network"
	"coffer/api/networks"
)

// InitOptions are the answers of `coffer network init`. A chain is NAME, or NAME=URL once for each of its nodes. Ask
// puts a question to a person; without it, or with answers for the first two questions, nothing is asked. Owner is the
// cold key of an operator, "" for a network without one.
type InitOptions struct {
	File   string
	Kind   string
	Chains []string
	Tokens string
	Owner  string
	Ask    func(ctx context.Context, question string) (string, error)
	JSON   bool // print the result as JSON
	Out    io.Writer
}

// Written is what Init wrote: the file, its chains with the number of their nodes and tokens, and the command that
// comes next.
type Written struct {
	File   string         `json:"file"`
	Kind   network.Kind   `json:"kind"`
	Chains []WrittenChain `json:"chains"`
	Next   string         `json:"next"`
}

// WrittenChain is a chain of a new file. One without nodes is left out until it has some.
type WrittenChain struct {
	ID     uint64 `json:"id,omitzero"`
	Chain  string `json:"chain,omitzero"` // the CAIP-2 id of a Solana chain
	Name   string `json:"name"`
	Nodes  int    `json:"nodes"`
	Tokens int    `json:"tokens"`
}

// Choices of tokens.
const (
	TokensPriced = "priced"
	TokensAll    = "all"
	TokensNone   = "none"
)

// An InputError says that an answer or a flag makes no sense. Hint, if any, says what does.
type InputError struct{ Problem, Hint string }

func (e *InputError) Error() string { return e.Problem }

// usualCap is what gas may cost in gwei where the program knows no better.
const usualCap = 100

// Init writes a network file. It replaces none.
func Init(ctx context.Context, o InitOptions) error {
	if _, err := os.Lstat(o.File); !errors.Is(err, fs.ErrNotExist) {
		if err != nil {
			return err
		}
		return &InputError{o.File + " is there already", "change it by hand, or name another one with --out"}
	}
	asked := o.Ask != nil && o.Kind == "" && len(o.Chains) == 0
	kind, err := o.kind(ctx, asked)
	if err != nil {
		return err
	}
	shipped, err := networks.Shipped()
	if err != nil {
		return err
	}
	chosen, ofSolana, err := o.chains(ctx, asked, shipped)
	if err != nil {
		return err
	}
	if o.Tokens, err = o.tokens(ctx, asked, kind); err != nil {
		return err
	}
	if len(chosen) == 0 {
		chosen = shipped
	}
	f := &networks.File{Path: o.File, Kind: kind}
	if f.Operator, err = o.operator(ctx, asked); err != nil {
		return err
	}
	for _, c := range chosen {
		c = withTokens(c, o.Tokens)
		if kind == network.Lab {
			c.Final = networks.Finality{Counted: true}
		}
		if kind != network.Real { // the known caps are those of real chains
			c.FeeCap = amount.Scale(big.NewInt(usualCap), 0, 9)
		}
		if len(c.RPC) > 0 {
			if err := o.finality(ctx, asked, &c); err != nil {
				return err
			}
			f.Chains = append(f.Chains, c)
		} else {
			f.Idle = append(f.Idle, c)
		}
	}
	if err := put(f, ofSolana, o.Tokens); err != nil {
		return err
	}
	raw := f.Encode()
	if _, err := networks.Parse(o.File, raw); err != nil && len(f.Chains) > 0 {
		return err
	}
	if err := files.Replace(o.File, ".networks-*", raw); err != nil {
		return err
	}
	if err := files.SyncDir(filepath.Dir(o.File)); err != nil {
		return err
	}
	next := "coffer network check --file " + o.File
	if f.Operator != nil {
		next = "coffer serve --networks " + o.File
	}
	if o.JSON {
		w := Written{File: o.File, Kind: kind, Chains: []WrittenChain{}, Next: next}
		for _, c := range slices.Concat(f.Chains, f.Idle) {
			w.Chains = append(w.Chains, WrittenChain{ID: c.ID, Name: c.Name, Nodes: len(c.RPC), Tokens: len(c.Tokens)})
		}
		if s := ofSolana; s != nil {
			w.Chains = append(w.Chains, WrittenChain{Chain: s.ID.String(), Name: s.Name, Nodes: len(s.RPC),
				Tokens: len(s.Mints)})
		}
		return printJSON(o.Out, w)
	}
	if len(f.Chains) == 0 {
		next = "name your nodes in it (the lines rpc = []), then: " + next
	}
	fmt.Fprintf(o.Out, "written  %s\n", o.File)
	for _, c := range f.Chains {
		if s, slow := networks.Slow(c.ID); slow && !asked && !c.Final.Counted {
			takes, instead := s.Words()
			fmt.Fprintf(o.Out, "final    %s: %s\n         %s\n", c.Name, takes, instead)
		}
	}
	_, err = fmt.Fprintf(o.Out, "next     %s\n", next)
	return err
}

// finality asks when a block of a chain stays, where its nodes take long to say so.
func (o InitOptions) finality(ctx context.Context, asked bool, c *networks.Chain) error {
	s, slow := networks.Slow(c.ID)
	if !asked || !slow || c.Final.Counted {
		return nil
	}
	takes, instead := s.Words()
	for {
		answer, err := o.Ask(ctx, fmt.Sprintf("When is a block of %s final?\n  %s\n  %s\nfinalized, or how "+
			"many blocks [finalized]: ", c.Name, takes, instead))
		if err != nil {
			return err
		}
		if answer = strings.ToLower(strings.TrimSpace(answer)); answer == "" || answer == "finalized" {
			return nil
		}
		if n, err := strconv.ParseUint(answer, 10, 16); err == nil && n > 0 {
			c.Final = networks.Finality{Counted: true, Blocks: n}
			return nil
		}
	}
}

// What an operator pays of gas for an account in 24 hours, and lets be in escrow at once, until the file says another
// thing, in micro-USD.
const (
	usualSponsor  = 5e6
	usualExposure = 10_000e6
)

// operator finds out whether payments between the chains are settled, nil when they are not. No account is served until
// the file names some.
func (o InitOptions) operator(ctx context.Context, asked bool) (*networks.Operator, error) {
	for owner := o.Owner; ; owner = "" {
		if owner == "" && asked {
			var err error
			if owner, err = o.Ask(ctx, "Do you settle payments between these chains for others, as their operator? "+
				"Then the address\nof your cold key (0x…, empty for no): "); err != nil {
				return nil, err
			}
		}
		if owner == "" {
			return nil, nil
		}
		at, err := caip.ParseAddress(owner)
		switch {
		case err == nil && caip.CheckEIP55(owner) == nil && at != (common.Address{}):
			return &networks.Operator{Owner: at, Threshold: 1, SponsorPerDay: big.NewInt(usualSponsor),
				ExposureCap: big.NewInt(usualExposure)}, nil
		case !asked:
			return nil, &InputError{fmt.Sprintf("%q is no address", owner),
				"--operator takes 0x and 40 hex digits, correct letter case"}
		}
	}
}

func (o InitOptions) kind(ctx context.Context, asked bool) (network.Kind, error) {
	for kind := o.Kind; ; kind = "" {
		if kind == "" && asked {
			var err error
			if kind, err = o.Ask(ctx, "Which kind of network?\n  real  money is at stake\n  test  a public test "+
				"network\n  lab   your own chains\nKind: "); err != nil {
				return "", err
			}
		}
		switch k := network.Kind(strings.ToLower(kind)); {
		case k == network.Real || k == network.Test || k == network.Lab:
			return k, nil
		case kind == "" && !asked:
			return "", &InputError{"the kind of network is missing", "--kind real, test or lab"}
		case !asked:
			return "", &InputError{fmt.Sprintf("%q is no kind of network", kind), "--kind takes real, test or lab"}
		}
	}
}

// chains finds the chains, by flags or by questions.
func (o InitOptions) chains(ctx context.Context, asked bool, shipped []networks.Chain) (all []networks.Chain,
	ofSolana *networks.Solana, err error) {
	if asked {
		return o.askChains(ctx, shipped)
	}
	for _, text := range o.Chains {
		name, url, has := strings.Cut(text, "=")
		rpc, quorum, err := pick(&all, &ofSolana, name, shipped)
		if err != nil {
			return nil, nil, err
		}
		if !has {
			continue
		}
		if err := networks.CheckEndpoint(url); err != nil {
			return nil, nil, &InputError{Problem: networks.Host(url) + ": " + err.Error()}
		}
		use(rpc, quorum, url)
	}
	return all, ofSolana, nil
}

// pick adds a chain that a person names, once, and says where its nodes and their quorum are.
func pick(all *[]networks.Chain, ofSolana **networks.Solana, name string, shipped []networks.Chain) (rpc *[]string,
	quorum *int, err error) {
	switch s, is, err := solanaName(name); {
	case err != nil:
		return nil, nil, err
	case is && *ofSolana != nil && (*ofSolana).ID != s.ID:
		return nil, nil, &InputError{"a network has one Solana chain", "name the others in other files"}
	case is:
		if *ofSolana == nil {
			*ofSolana = s
		}
		return &(*ofSolana).RPC, &(*ofSolana).Quorum, nil
	}
	i, err := add(all, name, shipped)
	if err != nil {
		return nil, nil, err
	}
	return &(*all)[i].RPC, &(*all)[i].Quorum, nil
}

func (o InitOptions) askChains(ctx context.Context, shipped []networks.Chain) (all []networks.Chain,
	ofSolana *networks.Solana, err error) {
	var list strings.Builder
	for _, c := range shipped {
		fmt.Fprintf(&list, "  %-5s  %s, %d\n", c.Short, c.Name, c.ID)
	}
	list.WriteString("  sol    Solana, only when you name it\n")
	answer, err := o.Ask(ctx, "Which chains? By name or number, with blanks between them; any other by its number.\n"+
		list.String()+"Chains [all]: ")
	if err != nil {
		return nil, nil, err
	}
	words := strings.Fields(strings.ReplaceAll(answer, ",", " "))
	if len(words) == 0 || len(words) == 1 && strings.EqualFold(words[0], "all") {
		all = shipped
	} else {
		for _, word := range words {
			if _, _, err := pick(&all, &ofSolana, word, shipped); err != nil {
				return nil, nil, err
			}
		}
	}
	for i := range all {
		if err := o.endpoints(ctx, all[i].Name, &all[i].RPC, &all[i].Quorum); err != nil {
			return nil, nil, err
		}
	}
	if s := ofSolana; s != nil {
		err = o.endpoints(ctx, s.Name, &s.RPC, &s.Quorum)
	}
	return all, ofSolana, err
}

// endpoints asks for the nodes of a chain until an empty line.
func (o InitOptions) endpoints(ctx context.Context, chain string, rpc *[]string, quorum *int) error {
	wrong := ""
	for {
		url, err := o.Ask(ctx, fmt.Sprintf("%s%s, node %d (https://…, empty to go on): ", wrong, chain, len(*rpc)+1))
		if err != nil || url == "" {
			return err
		}
		if err := networks.CheckEndpoint(url); err != nil {
			wrong = fmt.Sprintf("%s: %s\n", networks.Host(url), err)
			continue
		}
		wrong = ""
		use(rpc, quorum, url)
	}
}

// use adds a node. Two of several must agree.
func use(rpc *[]string, quorum *int, url string) {
	if !slices.Contains(*rpc, url) {
		*rpc = append(*rpc, url)
	}
	*quorum = min(2, len(*rpc))
}

// add adds a chain by number, name or short name, once, and says where it is. One that the program does not know has a
// number, and ETH.
func add(all *[]networks.Chain, name string, shipped []networks.Chain) (int, error) {
	id, err := strconv.ParseUint(name, 10, 63)
	c := networks.Chain{ID: id, Name: fmt.Sprintf("Chain %d", id), Short: fmt.Sprintf("chain-%d", id), Quorum: 1,
		FinalWorst: networks.UsualWorst, FeeCap: amount.Scale(big.NewInt(usualCap), 0, 9),
		Coin: networks.Token{Symbol: "ETH", Name: "Ether", Decimals: 18, Aggregate: "ob:eth"}}
	known := slices.IndexFunc(shipped, func(s networks.Chain) bool {
		return s.ID == id || strings.EqualFold(s.Short, name) || strings.EqualFold(s.Name, name)
	})
	switch {
	case known >= 0:
		c = shipped[known]
	case err != nil || id == 0:
		return 0, &InputError{fmt.Sprintf("%q is no chain that this program knows", name),
			"name any other chain by its number, such as 84532"}
	}
	if i := slices.IndexFunc(*all, func(o networks.Chain) bool { return o.ID == c.ID }); i >= 0 {
		return i, nil
	}
	*all = append(*all, c)
	return len(*all) - 1, nil
}

func (o InitOptions) tokens(ctx context.Context, asked bool, kind network.Kind) (string, error) {
	switch {
	case o.Tokens == "" && kind != network.Real:
		return TokensNone, nil // the addresses are those of real chains
	case o.Tokens == "" && !asked:
		return TokensPriced, nil
	}
	for answer := o.Tokens; ; answer = "" {
		if answer == "" {
			var err error
			if answer, err = o.Ask(ctx, "Which tokens?\n  priced  those with a price feed\n  all     all that the "+
				"program knows\n  none\nTokens [priced]: "); err != nil {
				return "", err
			}
			if answer == "" {
				return TokensPriced, nil
			}
		}
		switch answer = strings.ToLower(answer); {
		case slices.Contains([]string{TokensPriced, TokensAll, TokensNone}, answer):
			return answer, nil
		case !asked:
			return "", &InputError{fmt.Sprintf("%q is no choice of tokens", answer),
				"--tokens takes priced, all or none"}
		}
	}
}

// withTokens is a chain with the chosen tokens, and the feeds that have a use.
func withTokens(c networks.Chain, choice string) networks.Chain {
	switch choice {
	case TokensNone:
		c.Tokens, c.Feeds = nil, nil
	case TokensPriced:
		c.Tokens = slices.DeleteFunc(slices.Clone(c.Tokens), func(t networks.Token) bool {
			return !slices.ContainsFunc(c.Feeds, func(f networks.Feed) bool { return f.Aggregate == t.Aggregate })
		})
	}
	return c
}
