package operator

import (
	"context"
	"slices"
	"time"

	"coffer/api/caip"
	"coffer/api/network"
	"coffer/api/networks"
	"coffer/api/op/solmsg"
	"coffer/api/service/chain/solana"
	"coffer/api/service/chain/solana/solnode"
)

// solanaNode is the Solana chain of a file with its endpoints.
type solanaNode struct {
	*networks.Solana
	*solnode.Client
	file *networks.File
}

// solana does something with the Solana chain of a file, if it has one.
func (o Options) solana(ctx context.Context, file *networks.File, do func(*solanaNode) error) error {
	if file.Solana == nil {
		return nil
	}
	c, err := solnode.Open(ctx, file, o.Credential, nil)
	if err != nil {
		return err
	}
	defer c.Close()
	return do(&solanaNode{file.Solana, c, file})
}

// check tries everything on the Solana chain. Its error is that of the context.
func (n *solanaNode) check(ctx context.Context, now time.Time) (*Report, error) {
	r := &Report{Chain: n.ID.String(), Name: n.Name, Line: n.Line}
	if !r.enough(r.endpoints(ctx, n.Pool, n.ID.String()+", slot"), len(n.RPC), n.Quorum) {
		return r, ctx.Err()
	}
	n.slots(ctx, r, now)
	n.programs(ctx, r)
	n.tokens(ctx, r)
	return r, ctx.Err()
}

// slots looks at the age of the newest slot and at how far behind it transactions stay.
func (n *solanaNode) slots(ctx context.Context, r *Report, now time.Time) {
	newest, err := n.Slot(ctx, solnode.Confirmed)
	if err != nil {
		r.say(Missing, "newest slot", "", "%s", because(err, ""))
		return
	}
	at, err := n.BlockTime(ctx, newest)
	age := now.Sub(time.Unix(at, 0)).Round(time.Second)
	switch {
	case err != nil:
		r.say(Unknown, "newest slot", "", "%d, of an unknown time (%s)", newest, because(err, ""))
	case n.file.Kind != network.Lab && age > behind:
		r.say(Missing, "newest slot", "", "%d, %s old", newest, age)
	default:
		r.say(Good, "newest slot", "", "%d, %s old", newest, max(age, 0))
	}
	final, err := n.Slot(ctx, n.Commitment())
	if err != nil {
		r.say(Missing, n.Commitment(), "", "%s", because(err, ""))
		return
	}
	r.say(Good, n.Commitment(), "", "%d, %s behind the newest", final,
		plural(int(newest-min(newest, final)), "slot", "slots"))
}

// programs looks for those that messages of this program use.
func (n *solanaNode) programs(ctx context.Context, r *Report) {
	keys := []solmsg.Key{solmsg.SystemProgram(), solmsg.TokenProgram(), solmsg.ATAProgram(), solmsg.MemoProgram()}
	names := []string{"System", "Token", "Associated Token Account", "Memo"}
	found, err := n.Accounts(ctx, true, keys...)
	if err != nil {
		r.say(Missing, "programs", "", "%s", because(err, ""))
		return
	}
	there := 0
	for i, a := range found {
		if a.Executable {
			there++
		} else {
			r.say(Missing, "program "+names[i], "nothing is sent without it", "none at %s", keys[i])
		}
	}
	if there == len(keys) {
		r.say(Good, "programs", "", "System, Token, Associated Token Account and Memo are there")
	}
}

// tokens compares the decimals of every mint.
func (n *solanaNode) tokens(ctx context.Context, r *Report) {
	keys := make([]solmsg.Key, len(n.Mints))
	for i, m := range n.Mints {
		keys[i] = m.Key
	}
	found, err := n.Accounts(ctx, true, keys...)
	if err != nil {
		r.say(Missing, "tokens", "", "%s", because(err, ""))
		return
	}
	good := 0
	for i, m := range n.Mints {
		what, where := "token "+m.Symbol, n.file.Where(m.Line)
		_, decimals, is := solana.AsMint(found[i].Account)
		switch {
		case found[i].Owner == solmsg.Token2022Program():
			r.say(Missing, what, "", "%s: it is of Token 2022, which this version does not send", where)
		case !is:
			r.say(Missing, what, "", "%s: there is no mint at %s", where, caip.FormatSolanaKey(m.Key))
		case int(decimals) != m.Decimals:
			r.say(Missing, what, "", "%s: it has %d decimals, the file says %d", where, decimals, m.Decimals)
		default:
			good++
		}
	}
	if good > 0 {
		r.say(Good, "tokens", "", "%d of %d have the decimals of the file", good, len(n.Mints))
	}
}

// solanaName reports whether an answer means a Solana chain: by its name, or, one of a person's own, by its id.
func solanaName(name string) (*networks.Solana, bool, error) {
	s, err := networks.ShippedSolana()
	if err != nil {
		return nil, false, err
	}
	if name == s.Short || name == "solana" || name == s.Name {
		return s, true, nil
	}
	id, err := caip.ParseChain(name)
	if err != nil || !id.IsSolana() {
		return nil, false, nil
	}
	s.ID = id
	return s, true, nil
}

// devnet is the public test network that people mean by Solana on a network of kind test.
const devnet = "solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1"

// put gives a new file its Solana chain: with the id that its name means on a network of that kind, and the tokens of
// the choice.
func put(f *networks.File, s *networks.Solana, choice string) (err error) {
	if s == nil {
		return nil
	}
	switch named := s.ID != caip.SolanaMainnet(); {
	case f.Kind == network.Test && !named:
		if s.ID, err = caip.ParseChain(devnet); err != nil {
			return err
		}
	case f.Kind == network.Lab && !named:
		return &InputError{"a Solana chain of your own has an id of its own",
			"name it by that: solana: and the first 32 characters of what its getGenesisHash answers"}
	}
	s.Mints = slices.DeleteFunc(s.Mints, func(m networks.Mint) bool {
		priced := slices.ContainsFunc(slices.Concat(f.Chains, f.Idle), func(c networks.Chain) bool {
			return slices.ContainsFunc(c.Feeds, func(e networks.Feed) bool { return e.Aggregate == m.Aggregate })
		})
		return choice == TokensNone || choice == TokensPriced && !priced
	})
	if f.IdleSolana = s; len(s.RPC) > 0 {
		f.Solana, f.IdleSolana = s, nil
	}
	return nil
}
