package keys

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"coffer/config/contacts"
	"coffer/ui/cli"
	"coffer/ui/compose"
	"coffer/ui/profile"
)

// Contacts answers `coffer contacts`.
type Contacts struct {
	Host   profile.Host
	Prompt cli.Prompt
	In     io.Reader
	Out    io.Writer
}

// Command builds `coffer contacts`.
func (c Contacts) Command(g *cli.Global) *cobra.Command {
	return cli.Group(&cobra.Command{
		Use:   "contacts",
		Short: "Your names for addresses",
		Long: `A contact is an address with your name for it. Type the name in place of a recipient (--to "Anna");
Coffer shows it beside the address, never instead of it. The contacts are in one file beside the configuration,
for all profiles.`,
		Example: `  coffer contacts add Anna 0x93DBD23b6b71b82E3A19aD8d51DdEBbB13aF7BC0
  coffer contacts list
  coffer transfer --asset usdc --amount 25 --to Anna --chain base --dry-run`,
		Args: cli.NoArgs,
	}, c.list(g), c.add(g), c.rename(g), c.remove(g), c.importing(g), c.export(g))
}

func (c Contacts) list(g *cli.Global) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "list", Short: "Print your contacts",
		Example: "  coffer contacts list\n  coffer contacts list --json | jq -r '.[].name'",
		RunE: func(*cobra.Command, []string) error {
			b, err := c.Host.Book(g.Profile)
			if err != nil {
				return err
			}
			if len(b.Own()) == 0 && !asJSON {
				c.Prompt.Say("There are no contacts; add one with: coffer contacts add NAME ADDRESS")
			}
			return c.print(asJSON, b.Own()...)
		},
	}
	cli.JSONFlag(cmd, &asJSON)
	return cmd
}

// print prints contacts in columns, or as a list in JSON.
func (c Contacts) print(asJSON bool, all ...contacts.Contact) error {
	if asJSON {
		return cli.PrintJSON(c.Out, append([]contacts.Contact{}, all...))
	}
	w := cli.Columns(c.Out)
	for _, x := range all {
		fmt.Fprintf(w, "%s\t%s\n", x.Name, x.Address)
	}
	return w.Flush()
}

// change changes the book, and prints the contacts that are new in it, or with gone those that are no longer.
func (c Contacts) change(cmd *cobra.Command, g *cli.Global, asJSON, gone bool,
	edit func(contacts.Book) (contacts.Book, error)) error {
	b, err := c.Host.Book(g.Profile)
	if err != nil {
		return err
	}
	var before contacts.Book
	var refused *cli.RefusedError
	err = b.Change(cmd.Context(), func(own contacts.Book) (contacts.Book, error) {
		before = own
		return edit(own)
	})
	switch {
	case errors.As(err, &refused):
		return err
	case err != nil:
		return &cli.UsageError{Problem: err.Error()}
	}
	from, other := b.Own(), before
	if gone {
		from, other = before, b.Own()
	}
	return c.print(asJSON, slices.DeleteFunc(slices.Clone(from), func(x contacts.Contact) bool {
		return slices.Contains(other, x)
	})...)
}

// similar refuses contacts that are new in a book and imitate a known address, unless that was accepted.
func similar(before, after contacts.Book, accepted bool) error {
	known := &compose.World{}
	for _, x := range before {
		known.Book = append(known.Book, compose.Contact{Name: x.Name, Address: x.Address})
	}
	for _, x := range after {
		if slices.ContainsFunc(before, func(old contacts.Contact) bool { return old.Address == x.Address }) {
			continue
		}
		if who, level := known.Whose(x.Address); level == compose.Danger && !accepted {
			return &cli.RefusedError{Problem: x.Address + " " + who +
				": compare all of it with its source; --similar adds it all the same"}
		}
		known.Book = append(known.Book, compose.Contact{Name: x.Name, Address: x.Address})
	}
	return nil
}

func (c Contacts) add(g *cli.Global) *cobra.Command {
	var asJSON, accepted bool
	cmd := &cobra.Command{
		Use: "add NAME ADDRESS", Short: "Name an address",
		Long: `Adds a contact: an EVM address with a correct checksum, or a Solana address. A name has up to 24
characters, begins with a letter or a digit, and is no address and no symbol of an asset; each name and each address
is there once. An address that resembles one of another contact is refused (exit code 4) unless --similar is given.`,
		Example: "  coffer contacts add Anna 0x93DBD23b6b71b82E3A19aD8d51DdEBbB13aF7BC0\n  coffer contacts add " +
			"\"Anna on Solana\" GThUX1Atko4tqhN2NaiTazWSeFWMuiUvfFnyJyUghFMJ",
		Args: counted("name and one address", 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.change(cmd, g, asJSON, false, func(own contacts.Book) (contacts.Book, error) {
				x, err := contacts.New(args[0], args[1])
				if err != nil {
					return nil, err
				}
				after, err := own.With(x)
				if err == nil {
					err = similar(own, after, accepted)
				}
				return after, err
			})
		},
	}
	cmd.Flags().BoolVar(&accepted, "similar", false, "add it although it resembles an address of another contact")
	cli.JSONFlag(cmd, &asJSON)
	return cmd
}

// counted demands a number of words, none of them empty.
func counted(what string, n int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) == n && !slices.Contains(args, "") {
			return nil
		}
		return cli.Misused(cmd, "`%s` takes one %s; quote a name of several words", cmd.CommandPath(), what)
	}
}

func (c Contacts) rename(g *cli.Global) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "rename NAME NEW", Short: "Give a contact another name", Long: "Changes the name; the address stays.",
		Example: "  coffer contacts rename Anna \"Anna K.\"",
		Args:    counted("name and one new name", 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.change(cmd, g, asJSON, false, func(own contacts.Book) (contacts.Book, error) {
				return own.Renamed(args[0], args[1])
			})
		},
	}
	cli.JSONFlag(cmd, &asJSON)
	return cmd
}

func (c Contacts) remove(g *cli.Global) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "remove NAME", Short: "Remove a contact",
		Long:    "Removes a contact and prints it, so that it can be added again.",
		Example: "  coffer contacts remove Anna",
		Args:    counted("name", 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.change(cmd, g, asJSON, true, func(own contacts.Book) (contacts.Book, error) {
				return own.Without(args[0])
			})
		},
	}
	cli.JSONFlag(cmd, &asJSON)
	return cmd
}

func (c Contacts) importing(g *cli.Global) *cobra.Command {
	var asJSON, accepted bool
	cmd := &cobra.Command{
		Use: "import FILE|-", Short: "Add contacts from a file",
		Long: `Reads what "contacts export" writes: JSON, or a table that begins with "name,address". All of it is
added, or nothing: a name or an address that the book has for something else refuses the whole file. What the book has
already stays. Prints the contacts that were added.`,
		Example: "  coffer contacts import contacts.csv\n  coffer contacts import - < contacts.json",
		Args:    cli.OneArg("file"),
		RunE: func(cmd *cobra.Command, args []string) error {
			more, err := c.read(args[0])
			if err != nil {
				return err
			}
			return c.change(cmd, g, asJSON, false, func(own contacts.Book) (contacts.Book, error) {
				after, err := own.Merged(more)
				if err == nil {
					err = similar(own, after, accepted)
				}
				return after, err
			})
		},
	}
	cmd.Flags().BoolVar(&accepted, "similar", false, "add addresses that resemble one of another contact, too")
	cli.JSONFlag(cmd, &asJSON)
	return cmd
}

// read reads a document from a file, or from the input for "-".
func (c Contacts) read(name string) (_ contacts.Book, err error) {
	from := c.In
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return nil, cli.InFile(err)
		}
		defer func() { _ = f.Close() }()
		from = f
	}
	data, err := io.ReadAll(io.LimitReader(from, contacts.MaxBytes+1))
	if err != nil {
		return nil, cli.InFile(err)
	}
	b, err := contacts.Parse(data)
	if err != nil {
		return nil, &cli.UsageError{Problem: err.Error() + "; nothing was added"}
	}
	return b, nil
}

func (c Contacts) export(g *cli.Global) *cobra.Command {
	var table bool
	cmd := &cobra.Command{
		Use: "export", Short: "Print your contacts for another program",
		Long:    "Prints the contacts as JSON, or as a table with --csv; both can be imported.",
		Example: "  coffer contacts export > contacts.json\n  coffer contacts export --csv > contacts.csv",
		RunE: func(*cobra.Command, []string) error {
			b, err := c.Host.Book(g.Profile)
			if err != nil {
				return err
			}
			write := b.Own().JSON
			if table {
				write = b.Own().CSV
			}
			out, err := write()
			if err == nil {
				_, err = c.Out.Write(out)
			}
			return err
		},
	}
	cmd.Flags().BoolVar(&table, "csv", false, "print a table")
	return cmd
}
