package daemon

import (
	"context"
	"fmt"
	"math/big"
	"strconv"
	"strings"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api/caip"
	"coffer/api/service"
	"coffer/api/service/netstatus"
	"coffer/api/service/operator"
)

// RebalanceOptions are those of Rebalance beside the ones of a status. Shares are CHAIN=NUMBER, Assets symbols, none
// for all. With Safe, which writes the calls of a chain to a file and returns its name, what is too much is written as
// withdrawals to To.
type RebalanceOptions struct {
	StatusOptions
	Shares, Assets []string
	To             common.Address
	Safe           func(several bool, chain uint64, calls []operator.OwnerCall) (string, error)
}

// Rebalanced is what Rebalance found. Files are the batches by chain.
type Rebalanced struct {
	At     time.Time         `json:"at"`
	Source string            `json:"source"`
	Days   int               `json:"days"`
	Assets []netstatus.Stock `json:"assets"`
	Files  map[string]string `json:"files"`
}

// Rebalance prints which chain has too much of an asset and which too little. It moves nothing.
func Rebalance(ctx context.Context, o RebalanceOptions) error {
	s, err := service.ReadStatus(ctx, service.Options{Dir: o.Dir, Networks: o.Networks, Credential: o.Credential,
		Clock: time.Now})
	if err != nil {
		return err
	}
	shares, err := o.shares(s)
	if err != nil {
		return err
	}
	r := Rebalanced{At: s.At, Source: s.Source, Days: netstatus.FlowDays, Assets: []netstatus.Stock{},
		Files: map[string]string{}}
	for _, k := range s.Balance(shares) {
		if len(o.Assets) == 0 || named(o.Assets, k.Symbol) {
			r.Assets = append(r.Assets, k)
		}
	}
	if len(o.Assets) > 0 && len(r.Assets) == 0 {
		return &OptionError{Problem: "the filler has none of " + strings.Join(o.Assets, ", "),
			Hint: "--asset takes a symbol of the file"}
	}
	if !o.JSON {
		if err := netstatus.PrintBalance(o.Out, r.Assets, r.Days); err != nil {
			return err
		}
	}
	if err := o.write(s, &r); err != nil {
		return err
	}
	if o.JSON {
		line, err := netstatus.EncodeJSON(r)
		if err == nil {
			_, err = fmt.Fprintf(o.Out, "%s\n", line)
		}
		return err
	}
	return nil
}

func named(all []string, symbol string) bool {
	for _, one := range all {
		if strings.EqualFold(one, symbol) {
			return true
		}
	}
	return false
}

// maxShare bounds a share.
const maxShare = 1_000_000

// shares reads CHAIN=NUMBER.
func (o RebalanceOptions) shares(s *netstatus.Status) (netstatus.Shares, error) {
	out := netstatus.Shares{}
	for _, one := range o.Shares {
		chain, number, _ := strings.Cut(one, "=")
		n, err := strconv.ParseInt(number, 10, 64)
		found := false
		for _, c := range s.Chains {
			if called(c, chain) {
				out[c.ID], found = n, true
			}
		}
		if err != nil || n < 0 || n > maxShare || !found {
			return nil, &OptionError{Problem: fmt.Sprintf("--share: %q is no chain of the network with its share", one),
				Hint: "such as base=3: three times as much as a chain that is not named; 0 for nothing"}
		}
	}
	return out, nil
}

// write writes what is too much as withdrawals, chain by chain.
func (o RebalanceOptions) write(s *netstatus.Status, r *Rebalanced) error {
	if o.Safe == nil {
		return nil
	}
	calls := map[uint64][]operator.OwnerCall{}
	for _, k := range r.Assets {
		for _, p := range k.Places {
			if p.Over == nil {
				return &OptionError{Problem: fmt.Sprintf("what %s has of %s, or has promised, is not known now, so "+
					"nothing was written", p.Name, p.Symbol), Hint: "try again, or name other assets with --asset"}
			}
			if over := new(big.Int).Set(p.Over); over.Sign() > 0 && p.Moves() {
				asset, err := caip.ParseAsset(p.Asset)
				if err != nil {
					return err
				}
				token, _ := asset.Token()
				calls[p.Chain] = append(calls[p.Chain], operator.WithdrawCall(s.Filler, token, o.To, over))
			}
		}
	}
	if len(calls) == 0 && !o.JSON {
		fmt.Fprintln(o.Out, "no chain has too much: nothing was written")
	}
	for _, c := range s.Chains {
		if len(calls[c.ID]) == 0 {
			continue
		}
		name, err := o.Safe(len(calls) > 1, c.ID, calls[c.ID])
		if err != nil {
			return err
		}
		r.Files[strconv.FormatUint(c.ID, 10)] = name
		if !o.JSON {
			fmt.Fprintf(o.Out, "%s: written to %s\n", c.Name, name)
		}
	}
	return nil
}
