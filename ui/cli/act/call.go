package act

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"coffer/ui/cli"
	"coffer/ui/compose"
	"coffer/wallet/intent"
)

const signingHelp = `
On a terminal both reviews are printed and have to be confirmed by typing. Without one, or with --yes, Coffer
asks nothing: every check and your policy still apply, --yes stops at every warning that --accept does not name
(--accept V4,Q11), --passphrase-fd opens locked keys, and an open gate stays shut unless --confirm repeats its
sentence. --dry-run asks the service, checks and prints, and signs nothing. An interrupt is safe: what was sent is in
the journal and is never sent again.

Exit codes: 0 done, 1 failed or refunded, 2 command line, 3 keys or access, 4 refused by a check, 5 expired, not
confirmed or not executed, 6 outcome unknown.`

// Call builds `coffer call`.
func (c Commands) Call(g *cli.Global) *cobra.Command {
	var a asked
	var o runOptions
	cmd := &cobra.Command{
		Use:   "call [FILE|-]",
		Short: "Run contract calls, paid for from any chain",
		Long: `Runs the calls of a file (an intent, or a batch of the Safe Transaction Builder), or one call that
flags describe. Flags about funding, allowances and slippage complete a file as well. What names no slippage, a file
too, gets 0.5 %.
` + signingHelp,
		Example: `  coffer call intent.json --dry-run
  coffer call --chain base --to usdc --function "transfer(address to, uint256 amount)" --arg ` +
			`0x93DBD23b6b71b82E3A19aD8d51DdEBbB13aF7BC0 --arg "25 USDC"
  coffer call batch.json --fund-with usdc --yes --passphrase-fd 3 3< <(pass show coffer)
  coffer call - --yes --json < intent.json`,
		Args: cli.MayHave("file"),
	}
	a.callFlags(cmd)
	return c.signs(g, cmd, &o, func(cmd *cobra.Command, s *Session, args []string) error {
		d, err := c.draft(cmd, s, &a, args)
		if err != nil {
			return err
		}
		return c.freezeAndRun(cmd.Context(), s, o, d)
	})
}

// Transfer builds `coffer transfer`.
func (c Commands) Transfer(g *cli.Global) *cobra.Command {
	return c.exchange(g, intent.KindTransfer, "Transfer an asset to an account on any chain",
		`  coffer transfer --asset usdc --amount 25 --to 0x93DBD23b6b71b82E3A19aD8d51DdEBbB13aF7BC0 --chain base
  coffer transfer --asset eth@op --amount 0.05 --to 0x93DBD23b6b71b82E3A19aD8d51DdEBbB13aF7BC0 --chain base --dry-run
  coffer transfer "ethereum:0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913@8453/transfer?address=`+
			`0x93DBD23b6b71b82E3A19aD8d51DdEBbB13aF7BC0&uint256=25e6"`)
}

// Swap builds `coffer swap`.
func (c Commands) Swap(g *cli.Global) *cobra.Command {
	return c.exchange(g, intent.KindSwap, "Swap an asset for another, on any chain",
		`  coffer swap --asset usdc --amount 100 --for eth@base
  coffer swap --asset usdc@op --amount 100 --for eth@base --min 0.029 --slippage 0.3 --yes --accept Q11 --json`)
}

func (c Commands) exchange(g *cli.Global, kind, short, example string) *cobra.Command {
	var a asked
	var o runOptions
	cmd := &cobra.Command{
		Use: kind, Short: short, Example: example, Long: short + ".\n" + signingHelp,
	}
	if kind == intent.KindTransfer {
		cmd.Use, cmd.Args = kind+" [REQUEST]", cli.MayHave("payment request")
		cmd.Long = short + `, or pay a payment request: ethereum:... as in EIP-681, or solana:... as in Solana Pay. On
an EVM chain a request is paid by a call, so that the recipient gets exactly what it asks for.
` + signingHelp
	}
	a.exchangeFlags(cmd, kind)
	return c.signs(g, cmd, &o, func(cmd *cobra.Command, s *Session, args []string) error {
		var d intent.Draft
		var err error
		if len(args) > 0 {
			d, err = c.requestDraft(s, &a, args[0])
		} else {
			d, err = a.exchangeDraft(s.world(c.Clock), kind)
		}
		if err != nil {
			return err
		}
		return c.freezeAndRun(cmd.Context(), s, o, d)
	})
}

// requestDraft pays a payment request.
func (c Commands) requestDraft(s *Session, a *asked, request string) (intent.Draft, error) {
	if more := a.changed("asset", "amount", "to", "chain"); len(more) > 0 {
		return intent.Draft{}, usage("", "the payment request says what is paid, so --%s does not go with it", more[0])
	}
	w := s.world(c.Clock)
	form, note, problem := w.Payment(request)
	if problem != "" {
		return intent.Draft{}, usage("", "%s", clean(problem))
	}
	for _, problem := range w.Mistakes(form, true) {
		return intent.Draft{}, usage("an amount that it leaves open is given by the flags instead",
			"the payment request cannot be paid: %s", clean(problem))
	}
	if note != "" {
		c.say("Note: %s.", note)
	}
	d := form.Draft(w)
	d.Network, d.Accounts = "", nil // a plan is of the profile that writes it
	if d.Exchanges() {
		return d, a.common(&d)
	}
	return d, a.complete(w, &d)
}

// draft is what a command line asks for: the named file, completed by flags, or flags alone.
func (c Commands) draft(cmd *cobra.Command, s *Session, a *asked, args []string) (intent.Draft, error) {
	if len(args) == 0 {
		return a.callDraft(s.world(c.Clock))
	}
	b, err := c.readFile(cmd, args[0])
	if err != nil {
		return intent.Draft{}, err
	}
	return a.fileDraft(s.world(c.Clock), args[0], b)
}

// fileDraft is the request of a file, completed by flags.
func (a *asked) fileDraft(w *compose.World, name string, b []byte) (intent.Draft, error) {
	if twice := a.changed(a.names()...); len(twice) > 0 {
		return intent.Draft{}, usage("", "the file describes the calls, so --%s does not go with it", twice[0])
	}
	d, err := intentFile(name, b)
	if err != nil {
		return d, err
	}
	if d.Exchanges() {
		if none := a.changed("allow", "require", "fund-with", "valid-for"); len(none) > 0 {
			return d, usage("", "a %s has no --%s", d.Kind, none[0])
		}
		return d, a.common(&d)
	}
	return d, a.complete(w, &d)
}

// maxFile bounds a file, in MiB.
const maxFile = 4

// readFile reads a file, or standard input for "-".
func (c Commands) readFile(cmd *cobra.Command, path string) ([]byte, error) {
	if path == "-" {
		if n, err := cmd.Flags().GetInt(cli.PassphraseFlag); err == nil && n == 0 {
			return nil, usage("use another descriptor for the passphrase", "standard input is the file already")
		}
		return compose.ReadAll(c.In)
	}
	return cli.ReadFile(path, maxFile)
}

// intentFile reads an intent, or a batch of the Safe Transaction Builder.
func intentFile(name string, b []byte) (intent.Draft, error) {
	doc, err := compose.ReadDocument(b)
	if err != nil {
		return intent.Draft{}, refusedFile(name, err)
	}
	return doc.Draft, nil
}

// refusedFile lists every broken rule of a file.
func refusedFile(name string, err error) error {
	return &cli.UsageError{Problem: cli.Broken(clean(name)+" cannot be used", err)}
}

// frozen makes the intent of a draft for the profile.
func (c Commands) frozen(s *Session, d intent.Draft) (intent.Intent, error) {
	in, err := s.world(c.Clock).Freeze(d)
	if errors.Is(err, compose.ErrNetwork) {
		return in, usage("", "%s", err)
	}
	if err != nil {
		return in, refusedFile("the request", err)
	}
	return in, nil
}

func (c Commands) freezeAndRun(ctx context.Context, s *Session, o runOptions, d intent.Draft) error {
	in, err := c.frozen(s, d)
	if err != nil {
		return err
	}
	return c.operate(ctx, s, o, job{in: in})
}
