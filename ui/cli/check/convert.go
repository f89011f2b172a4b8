package check

import (
	"github.com/spf13/cobra"

	"coffer/ui/cli"
	"coffer/wallet/intent"
)

// Intent builds `coffer intent`: conversions between intent files and batches of the Safe Transaction Builder.
func (c Commands) Intent(*cli.Global) *cobra.Command {
	asJSON := func(c *cobra.Command) *cobra.Command {
		c.Flags().Bool("json", true, "print JSON, which is the only form")
		return c
	}
	return cli.Group(&cobra.Command{
		Use:   "intent",
		Short: "Convert intent files from and to Safe Transaction Builder batches",
		Long: `An intent file says which calls run on which chain, what they need and who pays. A batch of the Safe
Transaction Builder has the calls and the chain alone. Both conversions read a file and print the other form; nothing
is asked of a service.`,
		Example: "  coffer intent from-safe batch.json > intent.json\n  coffer intent to-safe intent.json > batch.json",
	},
		asJSON(&cobra.Command{
			Use: "from-safe FILE", Args: cli.OneArg("file"), Short: "Print the calls of a batch as an intent file",
			Long: `Prints a draft with the calls and the target chain of the batch. The network, the accounts and the
tokens that the calls need are not in a batch: complete the file with them.`,
			Example: "  coffer intent from-safe batch.json > intent.json",
			RunE:    func(_ *cobra.Command, args []string) error { return c.fromSafe(args[0]) },
		}),
		asJSON(&cobra.Command{
			Use: "to-safe FILE", Args: cli.OneArg("file"), Short: "Print the calls of an intent file as a batch",
			Long: "Prints the calls on their chain. Who pays, with what and on which network stays behind: a " +
				"batch has no place for it.",
			Example: "  coffer intent to-safe intent.json > batch.json",
			RunE:    func(_ *cobra.Command, args []string) error { return c.toSafe(args[0]) },
		}))
}

func (c Commands) fromSafe(path string) error {
	b, err := cli.ReadFile(path, maxFile)
	if err != nil {
		return err
	}
	d, err := intent.FromSafe(b)
	if err != nil {
		return refusedFile(path, err)
	}
	return c.document(d)
}

func (c Commands) toSafe(path string) error {
	b, err := cli.ReadFile(path, maxFile)
	if err != nil {
		return err
	}
	d, err := intent.ParseDraft(b)
	if err != nil {
		return refusedFile(path, err)
	}
	out, err := intent.ToSafe(d, c.Clock())
	if err != nil {
		return refusedFile(path, err)
	}
	return c.write(out)
}

// refusedFile lists every broken rule of a file.
func refusedFile(path string, err error) error {
	return &cli.RefusedError{Problem: cli.Broken(clean(path)+" is refused", err)}
}
