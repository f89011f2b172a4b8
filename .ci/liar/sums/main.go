// Command sums reads what a service's store says happened on its chains, as JSON: what left each of the accounts that
// the arguments name, what is left there, and every operation that ran. It is a program of its own, opens the store
// when no other process has it open, and shares no code with the wallet but the names of assets.
//
//	sums STORE ACCOUNT...
//
// Amounts are base units. What left is counted in full, whatever came back later. Tokens are counted by their Transfer
// events and Solana by its receipts; of a native coin of an EVM chain, which leaves no event, what left is what
// arrived (the values of transactions, payments of the filler, refunds of the escrow) without what is still there.
package main

import (
	"errors"
	"fmt"
	"io"
	"math/big"
	"os"
	"strings"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/go-json-experiment/json"

	"coffer/api/caip"
	"coffer/api/network"
	"coffer/api/service/devnet"
	"coffer/api/service/store"
)

// sums are amounts by asset, or by account.
type sums map[string]*big.Int

func (s sums) add(name string, v *big.Int) {
	if v.Sign() == 0 {
		return
	}
	if s[name] == nil {
		s[name] = new(big.Int)
	}
	s[name].Add(s[name], v)
}

// report is what the program prints.
type report struct {
	Left, Have map[string]sums // by account
	Ran        []ran
	Odd        []string // what cannot be: a sum that does not add up
}

// ran is one operation on a chain. Hash is the user operation's, or the SHA-256 of a Solana message; Nonce is decimal,
// "" on Solana. Time is in Unix seconds.
type ran struct {
	Chain, Hash, Sender, Nonce string
	Time                       uint64
	Success                    bool
}

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "sums:", err)
		os.Exit(1)
	}
}

func run(args []string, out io.Writer) (err error) {
	if len(args) < 1 {
		return errors.New("name a store and accounts")
	}
	s, err := store.OpenBolt(args[0], store.BoltOptions{Holder: "sums"})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	in, err := devnet.Open(s, devnet.Options{Clock: time.Now, Kind: network.Lab})
	if err != nil {
		return err
	}
	r := &reader{in: in, events: countedEvents(), accounts: map[string]bool{}}
	r.report = report{Left: map[string]sums{}, Have: map[string]sums{}}
	for _, a := range args[1:] {
		r.accounts[a] = true
		r.report.Left[a], r.report.Have[a] = sums{}, sums{}
	}
	for _, id := range in.ChainIDs {
		if err := r.chain(id); err != nil {
			return err
		}
	}
	if err := r.solana(s); err != nil {
		return err
	}
	raw, err := json.Marshal(r.report, json.Deterministic(true))
	if err != nil {
		return err
	}
	_, err = out.Write(raw)
	return err
}

// reader adds up. Accounts are EVM addresses in lower case and Solana keys.
type reader struct {
	in       *devnet.Installation
	events   events
	accounts map[string]bool
	report   report
}

func (r *reader) odd(format string, args ...any) {
	r.report.Odd = append(r.report.Odd, fmt.Sprintf(format, args...))
}

func (r *reader) left(account string, asset caip.Asset, v *big.Int) {
	if r.accounts[account] {
		r.report.Left[account].add(asset.String(), v)
	}
}

func lower(a common.Address) string { return strings.ToLower(a.Hex()) }
