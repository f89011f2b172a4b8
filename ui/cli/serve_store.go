package cli

import (
	"context"

	"github.com/spf13/cobra"
)

// StoreCommands does the work of `coffer serve check` and `coffer serve backup`; main fills it in. Data is the data
// directory as given, "" for the default one.
type StoreCommands interface {
	// Check reads a file, or with "" the database of the data directory, and changes nothing.
	Check(ctx context.Context, data, file string) error
	// Backup copies the database to a new file.
	Backup(ctx context.Context, data, file string) error
}

func (p Program) checkStore() *cobra.Command {
	var data string
	cmd := &cobra.Command{
		Use:   "check [FILE]",
		Short: "Read a whole database and name what is damaged",
		Long: `Reads every page and every record of the database in the data directory, or of a backup when FILE is
given, compares each with its checksum, and names what is damaged. Nothing is changed. The exit code is 7 when
something is damaged. While a service runs, check a copy: ` +
			"`coffer serve backup FILE`, then `coffer serve check FILE`.",
		Example: "  coffer serve check --data ./lab\n  coffer serve check lab-2026-11-22.db",
		Args:    MayHave("file"),
		RunE: func(cmd *cobra.Command, args []string) error {
			file := ""
			if len(args) == 1 {
				file = args[0]
			}
			if file != "" && cmd.Flags().Changed("data") {
				return &UsageError{Problem: "either FILE or --data says what is checked, not both"}
			}
			return p.Store.Check(cmd.Context(), data, file)
		},
	}
	dataFlag(cmd.Flags(), &data)
	return cmd
}

func (p Program) backupStore() *cobra.Command {
	var data string
	cmd := &cobra.Command{
		Use:   "backup FILE",
		Short: "Copy the database of a service, which may run, to a new file",
		Long: `Writes a consistent copy of the database to FILE, with mode 0600, and checks it. A running service
makes the copy, through its local socket, and goes on meanwhile. A file that exists is not overwritten.

The copy holds everything: chains, quotes, the digests of the API keys, and the service's own keys. Keep it as you
keep the data directory. To restore it, stop the service, put the copy in the place of coffer.db in the data
directory, and start the service.`,
		Example: "  coffer serve backup lab-2026-11-22.db --data ./lab",
		Args:    OneArg("file to write"),
		RunE:    func(cmd *cobra.Command, args []string) error { return p.Store.Backup(cmd.Context(), data, args[0]) },
	}
	dataFlag(cmd.Flags(), &data)
	return cmd
}
