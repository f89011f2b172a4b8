package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/spf13/cobra"

	"coffer/api"
	"coffer/api/caip"
	"coffer/api/text"
)

// AccountsCommands does the work of `coffer accounts`; main fills it in. A method that fails half way returns what it
// did on earlier chains along with the error.
type AccountsCommands interface {
	// Show reads the roles of the profile's role-based account; the zero chain means every EVM chain of the network.
	Show(ctx context.Context, g Global, chain caip.Chain) ([]AccountRoles, error)
	// Rotate replaces the session key.
	Rotate(ctx context.Context, g Global, o RotateOptions) ([]AdminResult, error)
	// Exit announces, cancels or uses an exit.
	Exit(ctx context.Context, g Global, o ExitOptions) ([]AdminResult, error)
	// Undelegate ends the EIP-7702 delegation of an EOA.
	Undelegate(ctx context.Context, g Global, o UndelegateOptions) ([]AdminResult, error)
}

// UndelegateOptions are the flags of `coffer accounts undelegate`.
type UndelegateOptions struct {
	Chain caip.Chain // the zero chain means every EVM chain of the network
	Yes   bool       // sign without asking
}

// AdminOptions set how an admin message is signed and whether it is relayed.
type AdminOptions struct {
	Chain   caip.Chain // the zero chain means every EVM chain of the network
	KeyFile string     // file with the admin key; empty: the user types it on the terminal, without echo
	Confirm string     // the account's last four characters; empty: the user types them on the terminal
	Print   bool       // print the signed call, for anyone to send, instead of relaying it
}

// RotateOptions are the flags of `coffer accounts rotate`.
type RotateOptions struct {
	AdminOptions
	NewSession common.Address
}

// Actions of `coffer accounts exit`.
const (
	ExitAnnounce = "announce"
	ExitCancel   = "cancel"
	ExitSweep    = "sweep"
)

// ExitOptions are the flags of `coffer accounts exit`; To is where ExitSweep sends everything.
type ExitOptions struct {
	AdminOptions
	Action string
	To     common.Address
}

// AccountRoles are the roles of an account on one chain, as the service reports them.
type AccountRoles struct {
	Account string `json:"account"`
	Chain   string `json:"chain"`
	Name    string `json:"name"`
	api.RolesResponse
}

// AdminCall is a call that anyone may send: To and Data are 0x hex.
type AdminCall struct {
	To   string `json:"to"`
	Data string `json:"data"`
}

// AdminResult is the outcome on one chain: a transaction, signed calls to be sent in this order, or the reason why
// there was nothing to do.
type AdminResult struct {
	Account     string      `json:"account"`
	Chain       string      `json:"chain"`
	Action      string      `json:"action"`
	Hash        string      `json:"hash,omitzero"`
	ExplorerURL string      `json:"explorerUrl,omitzero"`
	Calls       []AdminCall `json:"calls,omitempty"`
	Skipped     string      `json:"skipped,omitzero"`
}

const adminHelp = `You type the admin key on the terminal, where it is not shown, or keep it in a file that only you can
read (--admin-key-file); Coffer never takes it from the command line or the environment. Before Coffer signs anything
you type the last four characters of the account; a script without a terminal gives them with --confirm. With --print
Coffer sends nothing: you get the signed calls, and anyone may send them.`

// accounts adds the commands of the role-based account to those that look after the accounts.
func (p Program) accounts(g *Global) *cobra.Command {
	var more []*cobra.Command
	if p.AccountsExtra != nil {
		more = p.AccountsExtra(g)
	}
	return Group(&cobra.Command{
		Use:   "accounts",
		Short: "The profile's accounts: addresses, roles, emergency exit",
		Long: `list, add, remove and check manage the accounts of the profile. A role-based account has a session
key for every day, an admin key for emergencies, and the service's co-signer. show, rotate and exit use the admin key:
to replace the session key, and to leave without the co-signer after a delay. undelegate makes an EOA with EIP-7702 an
ordinary account again.`,
		Example: "  coffer accounts list\n  coffer accounts show --json",
	}, append(more, Passing(p.show(g), p.Terminal), Passing(p.rotate(g), p.Terminal), p.exit(g),
		Passing(p.undelegate(g), p.Terminal))...)
}

func (p Program) show(g *Global) *cobra.Command {
	var on string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "show",
		Short: "Print the keys of the profile's role-based account on each chain",
		Long: "Prints session key, admin key, co-signer and the state of an exit, as the service reads them from " +
			"each chain.",
		Example: "  coffer accounts show\n  coffer accounts show --chain eip155:8453 --json",
		RunE: func(cmd *cobra.Command, _ []string) error {
			chain, err := chainFlag(on)
			if err != nil {
				return err
			}
			roles, err := p.Accounts.Show(cmd.Context(), *g, chain)
			if err != nil {
				return err
			}
			if asJSON {
				return PrintJSON(p.Out, roles)
			}
			return printRoles(p.Out, roles)
		},
	}
	cmd.Flags().StringVar(&on, "chain", "all", "one chain such as eip155:8453, or all")
	AccountFlag(cmd, g)
	JSONFlag(cmd, &asJSON)
	return cmd
}

// adminFlags are the flags that every command with the admin key takes.
type adminFlags struct {
	AdminOptions
	on     string
	asJSON bool
}

func (f *adminFlags) add(cmd *cobra.Command, g *Global) {
	AccountFlag(cmd, g)
	cmd.Flags().StringVar(&f.on, "chain", "all", "one chain such as eip155:8453, or all")
	cmd.Flags().StringVar(&f.KeyFile, "admin-key-file", "",
		"file with the admin key in hex, readable by you alone (mode 0600)")
	cmd.Flags().StringVar(&f.Confirm, "confirm", "",
		"the last four characters of the account, where no terminal can ask for them")
	cmd.Flags().BoolVar(&f.Print, "print", false, "print the signed calls instead of sending them")
	JSONFlag(cmd, &f.asJSON)
}

func (f *adminFlags) read() (err error) {
	f.Chain, err = chainFlag(f.on)
	return err
}

func (p Program) rotate(g *Global) *cobra.Command {
	var f adminFlags
	var session string
	cmd := &cobra.Command{
		Use:   "rotate",
		Short: "Replace the session key, at once",
		Long: "Replaces the session key on the chains named. What the old key signed and was not executed yet is " +
			"void there.\n\n" + adminHelp,
		Example: "  coffer accounts rotate --new-session 0x70997970C51812dc3A010C7d01b50e0d17dc79C8 --chain all\n  " +
			"coffer accounts rotate --new-session 0x70997970C51812dc3A010C7d01b50e0d17dc79C8 --chain eip155:8453 " +
			"--print",
		RunE: func(cmd *cobra.Command, _ []string) error {
			o := RotateOptions{}
			var err error
			if o.NewSession, err = addressFlag("--new-session", session); err != nil {
				return err
			}
			if err := f.read(); err != nil {
				return err
			}
			o.AdminOptions = f.AdminOptions
			done, err := p.Accounts.Rotate(cmd.Context(), *g, o)
			return errors.Join(p.printResults(done, f.asJSON), err)
		},
	}
	cmd.Flags().StringVar(&session, "new-session", "", "address of the new session key")
	f.add(cmd, g)
	return cmd
}

func (p Program) undelegate(g *Global) *cobra.Command {
	var o UndelegateOptions
	var on string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "undelegate ACCOUNT",
		Short: "End the EIP-7702 delegation of an EOA",
		Long: `Ends the delegation of an account, given by name or address, on every chain where it is delegated. Coffer
prints the chains and the contract, asks for the last four characters of the account, signs with the account's own key,
and the service sends it at its own cost. The account is then an ordinary account of its key; keys and funds stay as
they are. What the contract gave it stops there: several calls in one, passkeys, modules. Its next operation on a chain
asks to delegate again. A chain where it is not delegated is left alone, so the command may be repeated.`,
		Example: "  coffer accounts undelegate daily\n" +
			"  coffer accounts undelegate daily --chain eip155:8453 --yes --json",
		Args: OneArg("account"),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if o.Chain, err = chainFlag(on); err != nil {
				return err
			}
			of := *g
			of.Account = args[0]
			done, err := p.Accounts.Undelegate(cmd.Context(), of, o)
			return errors.Join(p.printResults(done, asJSON), err)
		},
	}
	cmd.Flags().StringVar(&on, "chain", "all", "one chain such as eip155:8453, or all")
	cmd.Flags().BoolVar(&o.Yes, "yes", false, "sign without asking")
	JSONFlag(cmd, &asJSON)
	return cmd
}

func (p Program) exit(g *Global) *cobra.Command {
	return Group(&cobra.Command{
		Use:   "exit",
		Short: "Leave without the co-signer: announce, cancel, sweep",
		Long: `announce starts a delay of one day, and from then on the co-signer signs nothing for the account. After
the delay the admin key alone operates the account, and sweep moves everything to an address of yours. cancel ends the
exit at any time.

` + adminHelp,
		Example: `  coffer accounts exit announce
  coffer accounts exit sweep --to 0x70997970C51812dc3A010C7d01b50e0d17dc79C8
  coffer accounts exit cancel`,
	},
		p.exitAction(g, ExitAnnounce, "Start the delay after which the admin operates alone",
			"Starts the delay of one day. From then on the co-signer signs nothing for the account, and after it "+
				"the admin key alone operates the account."),
		p.exitAction(g, ExitCancel, "End an announced exit, or revoke a signed message",
			"Ends an announced exit; the co-signer signs again. On a chain that is named with --chain it also "+
				"revokes an admin message that was signed and not used."),
		p.exitAction(g, ExitSweep, "Move every balance of the account to an address, after the delay",
			"Moves every balance of the account to one address, after the delay. The balances that the service "+
				"reports limit how much is moved, never to whom."))
}

func (p Program) exitAction(g *Global, action, short, long string) *cobra.Command {
	var f adminFlags
	var to string
	example := "  coffer accounts exit " + action
	if action == ExitSweep {
		example += " --to 0x70997970C51812dc3A010C7d01b50e0d17dc79C8"
	}
	cmd := &cobra.Command{
		Use: action, Short: short, Long: long + "\n\n" + adminHelp,
		Example: example + "\n" + example + " --chain eip155:8453 --print",
		RunE: func(cmd *cobra.Command, _ []string) error {
			o := ExitOptions{Action: action}
			if action == ExitSweep {
				var err error
				if o.To, err = addressFlag("--to", to); err != nil {
					return err
				}
			}
			if err := f.read(); err != nil {
				return err
			}
			o.AdminOptions = f.AdminOptions
			done, err := p.Accounts.Exit(cmd.Context(), *g, o)
			return errors.Join(p.printResults(done, f.asJSON), err)
		},
	}
	if action == ExitSweep {
		cmd.Flags().StringVar(&to, "to", "", "address that receives everything")
	}
	f.add(cmd, g)
	return Passing(cmd, p.Terminal)
}

// chainFlag reads "all" or an EVM chain.
func chainFlag(s string) (caip.Chain, error) {
	if s == "all" {
		return caip.Chain{}, nil
	}
	c, err := caip.ParseChain(s)
	if _, evm := c.EVMID(); err != nil || !evm {
		return caip.Chain{}, &UsageError{Problem: fmt.Sprintf(
			"--chain takes all or an EVM chain such as eip155:8453, not %q", text.Clean(s, 80))}
	}
	return c, nil
}

// addressFlag reads an address whose letter case, if mixed, is its checksum: a typing error in an address cannot be
// undone.
func addressFlag(flag, s string) (common.Address, error) {
	if s == "" {
		return common.Address{}, &UsageError{Problem: flag + " is missing: it takes an address"}
	}
	a, err := caip.ParseAddress(s)
	if err == nil {
		err = caip.CheckEIP55(s)
	}
	if err != nil {
		return common.Address{}, &UsageError{Problem: flag + ": " + err.Error()}
	}
	if a == (common.Address{}) {
		return common.Address{}, &UsageError{Problem: flag + " must not be the zero address"}
	}
	return a, nil
}

// printRoles writes one block of lines for each chain. It cleans the values, which come from a service.
func printRoles(out io.Writer, roles []AccountRoles) error {
	w := Columns(out)
	for i, r := range roles {
		if i == 0 {
			fmt.Fprintf(w, "account\t%s\n", text.Clean(r.Account, 80))
		}
		fmt.Fprintf(w, "\n%s\t%s\n", text.Clean(r.Name, 40), text.Clean(r.Chain, 60))
		if !r.Deployed {
			fmt.Fprintf(w, "  not deployed\tits first operation or admin message deploys it\n")
			continue
		}
		fmt.Fprintf(w, "  session\t%s\n  admin\t%s\n  co-signer\t%s\n  admin nonce\t%s\n  exit\t%s\n",
			text.Clean(r.SessionAddress, 80), text.Clean(r.AdminAddress, 80),
			text.Clean(r.CoSigner, 80), text.Clean(r.AdminNonce, 80), exitWords(r.ExitAvailableAt))
	}
	return w.Flush()
}

func exitWords(at uint64) string {
	if at == 0 {
		return "not announced"
	}
	if at >= 1<<48 {
		return "announced; the time is unknown"
	}
	return "announced; the admin operates alone from " + time.Unix(int64(at), 0).UTC().Format(time.RFC3339)
}

// printResults writes what was done; nothing without results.
func (p Program) printResults(done []AdminResult, asJSON bool) error {
	if len(done) == 0 {
		return nil
	}
	if asJSON {
		return PrintJSON(p.Out, done)
	}
	for _, r := range done {
		switch {
		case r.Skipped != "":
			fmt.Fprintf(p.Out, "%s  %s: nothing to do, %s\n", r.Chain, r.Action, r.Skipped)
		case r.Hash != "":
			fmt.Fprintf(p.Out, "%s  %s: done in transaction %s\n", r.Chain, r.Action, text.Clean(r.Hash, 80))
		}
		for i, c := range r.Calls {
			fmt.Fprintf(p.Out, "%s  %s: call %d of %d\n  to    %s\n  data  %s\n", r.Chain, r.Action, i+1, len(r.Calls),
				strings.ToLower(c.To), c.Data)
		}
	}
	return nil
}
