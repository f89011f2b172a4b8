package tank

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/big"
	"strings"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/spf13/cobra"

	"coffer/api/caip"
	"coffer/api/gastank"
	"coffer/ui/cli"
	"coffer/ui/present"
	"coffer/ui/profile"
	"coffer/wallet/journal"
	"coffer/wallet/verify"
)

// everything is the amount that asks for all less the fee.
const everything = "max"

// usualWait is how long a withdrawal is waited for.
const usualWait = 10 * time.Minute

type withdrawFlags struct {
	chain, amount, to   string
	yes, dryRun, asJSON bool
	wait                time.Duration
}

func (c Commands) withdraw(g *cli.Global) *cobra.Command {
	var o withdrawFlags
	cmd := &cobra.Command{
		Use:   "withdraw",
		Short: "Send coins of the gas tank to an address",
		Long: `Shows amount, chain, recipient and fee, asks, and sends. The amount is exact, or max: all less what the
fee may come to. It refuses while something of the tank's is under way on the chain.

The limits of the profile's policy file hold for it: chains, recipients, and what is spent at once and within a day.

The signed transfer is written down before it goes out, and it is never signed for another nonce: it moves coins once or
not at all, whatever happens to this command. When it ended before it could tell what became of a withdrawal, the next
one on the chain tells that and sends nothing else. What is not in a block within an hour is given up.`,
		Example: `  coffer tank withdraw --chain base --amount 0.05 --to 0x93DBD23b6b71b82E3A19aD8d51DdEBbB13aF7BC0
  coffer tank withdraw --chain base --amount max --to Anna --dry-run`,
		Args: cli.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			for _, name := range []string{"chain", "amount", "to"} {
				if !cmd.Flags().Changed(name) {
					return cli.Misused(cmd, "`coffer tank withdraw` needs --%s", name)
				}
			}
			if o.asJSON && !o.yes && !o.dryRun {
				return cli.Misused(cmd, "--json prints no review that could be confirmed: look at it with --dry-run, "+
					"then give --yes")
			}
			return c.take(cmd.Context(), g, o)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.chain, "chain", "", "the `CHAIN`, by its name or number; required")
	f.StringVar(&o.amount, "amount", "", "how `MUCH`: in whole coins, such as 0.05, or with a unit (20 gwei), or max; "+
		"required")
	f.StringVar(&o.to, "to", "", "who gets it: an `ADDRESS` or the name of a contact; required")
	f.BoolVar(&o.yes, "yes", false, "do not ask before sending")
	f.BoolVar(&o.dryRun, "dry-run", false, "show the review and send nothing")
	f.DurationVar(&o.wait, "wait", usualWait, "how long to wait until it is in a block; 0: not at all")
	cli.JSONFlag(cmd, &o.asJSON)
	return cmd
}

func (c Commands) take(ctx context.Context, g *cli.Global, f withdrawFlags) (err error) {
	o, err := c.open(ctx, g)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, o.Close()) }()
	r, err := c.read(o, f.chain, f.amount, f.to)
	if err != nil {
		return err
	}
	w := o.Withdrawals()
	if w == nil {
		return &cli.RefusedError{Problem: "another program has the gas tank open: close it, then try again; " +
			"nothing was sent"}
	}
	told, err := c.earlier(ctx, w, r, f)
	if told || err != nil {
		return err
	}
	p, err := w.Plan(ctx, r.chain, common.HexToAddress(r.to), r.value)
	if err != nil {
		return refusal(err)
	}
	if err := c.allowed(o, w, p); err != nil {
		return err
	}
	if f.dryRun {
		return c.planned(o, p, f.asJSON)
	}
	c.Prompt.Say(review(o, p)...)
	if err := c.confirm(ctx, r.to, f.yes); err != nil {
		return err
	}
	if p, err = w.Send(ctx, p); err != nil {
		return refusal(err)
	}
	return c.ends(ctx, w, p, f, false)
}

// allowed refuses what the policy file of the profile forbids. The day has what the wallet signed, and withdrawals.
func (c Commands) allowed(o *profile.Opened, w gastank.Withdrawals, p gastank.Withdrawal) error {
	rules, err := o.Policy()
	if err != nil {
		return err
	}
	now := c.Clock()
	sent, err := w.Since(now.Add(-24 * time.Hour))
	if err != nil {
		return err
	}
	var history verify.History = verify.NoHistory{}
	state, options := o.Journal("coffer tank")
	switch j, err := journal.OpenReadOnly(state, options); {
	case err == nil:
		defer func() { _ = j.Close() }()
		history = j
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	var own []string
	for _, a := range o.Own() {
		own = append(own, a.AccountAddress)
	}
	return forbidden(rules, history, now, own, p, sent)
}

// forbidden is the refusal of a withdrawal by a policy, with every limit that it breaks.
func forbidden(rules verify.Policy, h verify.History, now time.Time, own []string, p gastank.Withdrawal,
	sent []gastank.Withdrawal) error {
	var earlier []verify.Spend
	for _, x := range sent {
		earlier = append(earlier, verify.Spend{Asset: caip.Native(x.ChainID), Amount: x.Amount})
	}
	report := rules.Withdrawal(h, now, own, p.ChainID, p.To.Hex(), p.Amount, earlier)
	if !report.Refused() {
		return nil
	}
	var why []string
	for _, r := range report.Reasons {
		if r.Level == verify.Refuse {
			why = append(why, r.Code+" expected "+r.Want+", got "+present.Clean(r.Got, maxText))
		}
	}
	return &cli.RefusedError{Problem: "your policy file forbids this: " + strings.Join(why, "; ") +
		"; nothing was sent"}
}

// earlier tells the outcome of the last withdrawal on the chain, if that was not told yet. Then nothing else is sent.
func (c Commands) earlier(ctx context.Context, w gastank.Withdrawals, r request, f withdrawFlags) (bool, error) {
	last, found, err := w.Last(r.chain)
	if err != nil || !found || last.Told || f.dryRun {
		return false, err
	}
	c.Prompt.Say("The outcome of an earlier withdrawal was not shown yet; nothing else is sent before:")
	if err := c.ends(ctx, w, last, f, true); err != nil {
		return true, err
	}
	asked := gastank.Withdrawal{ChainID: r.chain, To: common.HexToAddress(r.to), All: r.value == nil, Amount: r.value}
	if last.Same(asked) {
		return true, nil
	}
	return true, &cli.RefusedError{Problem: "this was the earlier withdrawal, which asked for something else; " +
		"nothing was sent now: run the command again"}
}

// ends waits for a withdrawal and tells what became of it.
func (c Commands) ends(ctx context.Context, w gastank.Withdrawals, p gastank.Withdrawal, f withdrawFlags,
	earlier bool) error {
	wait, cancel := context.WithTimeout(ctx, f.wait)
	defer cancel()
	now, err := w.Wait(wait, p)
	if err != nil && wait.Err() == nil {
		return &codeError{code: cli.ExitUnknown, words: "what became of the withdrawal cannot be read: " + err.Error() +
			"; run the command again: it sends nothing else before it knows"}
	}
	if f.asJSON {
		if err := cli.PrintJSON(c.Out, factOf(now, earlier)); err != nil {
			return err
		}
	} else if now.State == gastank.Mined || now.State == gastank.Done {
		if _, err := fmt.Fprintln(c.Out, sentence(now)); err != nil {
			return err
		}
	}
	if now.State == gastank.Sent || now.State == gastank.Mined && err != nil {
		place := " is in no block yet"
		if now.Block > 0 {
			place = fmt.Sprintf(" is in block %d, and what it did there is not final yet", now.Block)
		}
		return &codeError{code: cli.ExitUnknown, words: "transaction " + now.Tx.Hex() + place + ". It goes on " +
			"whenever this profile is open, and moves coins once or not at all; the same command tells what became " +
			"of it"}
	}
	if err := w.Told(now); err != nil {
		return err
	}
	switch now.State {
	case gastank.Refused:
		return &codeError{code: cli.ExitFailed,
			words: now.To.Hex() + " did not take the coins; they stayed in the gas " +
				"tank, but for the fee (transaction " + now.Tx.Hex() + ")"}
	case gastank.Cancelled:
		return &codeError{code: cli.ExitExpired,
			words: "it was in no block in time and was given up: no coins moved, but " +
				"for the fee of the transaction in its place, " + now.Tx.Hex()}
	case gastank.Lost:
		return &codeError{code: cli.ExitUnknown,
			words: "its nonce was used for a transaction that is not known here: look " +
				"at the transactions of " + now.From.Hex() + " in an explorer before you send anything"}
	}
	return nil
}

func sentence(p gastank.Withdrawal) string {
	out := fmt.Sprintf("%s went to %s on %s: transaction %s, block %d", present.Wei(p.Amount, p.Symbol), p.To.Hex(),
		present.Clean(p.Chain, maxText), p.Tx.Hex(), p.Block)
	if p.State == gastank.Mined {
		out += ", which is not final yet"
	}
	return out
}

// fact is a withdrawal as JSON. Amounts are in wei.
type fact struct {
	State       string `json:"state"`
	Chain       string `json:"chain"`
	From        string `json:"from"`
	To          string `json:"to"`
	Amount      string `json:"amount"`
	Symbol      string `json:"symbol"`
	Fee         string `json:"fee,omitzero"`
	MostFee     string `json:"mostFee,omitzero"`
	Transaction string `json:"transaction,omitzero"`
	Block       uint64 `json:"block,omitzero"`
	Earlier     bool   `json:"earlier,omitzero"`
}

func factOf(p gastank.Withdrawal, earlier bool) fact {
	out := fact{State: string(p.State), Chain: caip.EVM(p.ChainID).String(), From: p.From.Hex(), To: p.To.Hex(),
		Amount: p.Amount.String(), Symbol: p.Symbol, Block: p.Block, Earlier: earlier}
	if p.State == "" {
		out.State = "planned"
	}
	if p.Fee != nil {
		out.Fee, out.MostFee = p.Fee.String(), p.Most.String()
	}
	if p.Tx != (common.Hash{}) {
		out.Transaction = p.Tx.Hex()
	}
	return out
}

// review are the lines that a withdrawal is confirmed by.
func review(o *profile.Opened, p gastank.Withdrawal) []string {
	to := p.To.Hex()
	for _, known := range o.Contacts() {
		if strings.EqualFold(known.Address, to) {
			to += " (" + present.Clean(known.Name, 24) + ")"
			break
		}
	}
	left := "less the fee"
	if p.All {
		left = "all that it has, less what the fee may come to"
	}
	return []string{
		"Withdrawal from the gas tank of profile " + o.Profile.Name + " (" +
			strings.ToUpper(string(o.Network.Kind)) + ")",
		"  amount     " + present.Wei(p.Amount, p.Symbol),
		fmt.Sprintf("  chain      %s (%d)", present.Clean(p.Chain, maxText), p.ChainID),
		"  from       " + p.From.Hex() + ", which has " + present.Wei(p.Has, p.Symbol),
		"  recipient  " + to,
		"  fee        up to " + present.Wei(p.Fee, p.Symbol) + " now; " + present.Wei(p.Most, p.Symbol) +
			" at most, if it has to be sent again for more",
		"  left       " + present.Wei(new(big.Int).Sub(p.Has, p.Amount), p.Symbol) + ", " + left,
	}
}

// planned prints a review as data.
func (c Commands) planned(o *profile.Opened, p gastank.Withdrawal, asJSON bool) error {
	if asJSON {
		return cli.PrintJSON(c.Out, factOf(p, false))
	}
	_, err := fmt.Fprintln(c.Out, strings.Join(append(review(o, p), "Nothing was sent."), "\n"))
	return err
}

// confirm demands the end of the recipient's address.
func (c Commands) confirm(ctx context.Context, to string, yes bool) error {
	if yes {
		return nil
	}
	if !c.Prompt.Terminal {
		return &cli.UsageError{Problem: "this has to be confirmed, and there is no terminal to ask on; " +
			"nothing was sent", Hint: "look at it with --dry-run, then give --yes"}
	}
	last := to[len(to)-4:]
	typed, err := c.Prompt.Line(ctx, "Type the last four characters of the recipient to send: ")
	if err == nil && !strings.EqualFold(strings.TrimSpace(typed), last) {
		err = &codeError{code: cli.ExitExpired,
			words: "those are not the last four characters of the recipient; nothing " +
				"was sent"}
	}
	return err
}

// codeError is an end with a code of its own.
type codeError struct {
	code  int
	words string
}

func (e *codeError) Error() string { return e.words }

// ExitCode is that of the program.
func (e *codeError) ExitCode() int { return e.code }

// refusal makes a refusal of the tank one of the command.
func refusal(err error) error {
	var no *gastank.RefusedError
	if !errors.As(err, &no) {
		return err
	}
	words := no.Problem + "; nothing was sent"
	if no.Hint != "" {
		words += " (" + no.Hint + ")"
	}
	return &cli.RefusedError{Problem: words}
}
