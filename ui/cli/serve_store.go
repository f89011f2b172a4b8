package cli

import (
	"context"

	"github.com/spf13/cobra"
)

// StoreCommands does the work of the commands of `coffer serve` that are about its records; main fills it in. Data is
// the data directory as given, "" for the default one.
type StoreCommands interface {
	// Check reads a file, or with "" the database of the data directory, and changes nothing.
	Check(ctx context.Context, data, file string) error
	// Backup copies the database to a new file.
	Backup(ctx context.Context, data, file string) error
	// Export copies the records of a database of PostgreSQL to a new file; address "" is that of the data directory.
	Export(ctx context.Context, data, address, file string) error
	// Import copies the records of a file into an empty database of PostgreSQL.
	Import(ctx context.Context, file, address string) error
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

func (p Program) exportStore() *cobra.Command {
	var data, address string
	cmd := &cobra.Command{
		Use:   "export FILE",
		Short: "Copy the records of a service in PostgreSQL to a new file",
		Long: `Writes the records of a database of PostgreSQL, as they are at one moment, to FILE, which is a coffer.db
of mode 0600, reads them back and compares the sums. The service may run meanwhile; to move it, stop it first. It
reads the database that the data directory names, or the one of --store. The file is as secret as the database: it
holds the service's own keys.

To go on without PostgreSQL, stop the service, put the file as coffer.db into the data directory, remove the file store
there, and start the service without --store.`,
		Example: "  coffer serve export lab-2026-11-22.db --data ./lab",
		Args:    OneArg("file to write"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := notEmpty(cmd, "store"); err != nil {
				return err
			}
			if address != "" && cmd.Flags().Changed("data") {
				return &UsageError{Problem: "either --store or --data says what is exported, not both"}
			}
			return p.Store.Export(cmd.Context(), data, address, args[0])
		},
	}
	dataFlag(cmd.Flags(), &data)
	cmd.Flags().StringVar(&address, "store", "", "the `ADDRESS` of the database (default: that of the data directory)")
	return cmd
}

func (p Program) importStore() *cobra.Command {
	var address string
	cmd := &cobra.Command{
		Use:   "import FILE",
		Short: "Copy a database file into an empty database of PostgreSQL",
		Long: `Copies every record of FILE, a coffer.db or a backup of one that no service has open, into the database
of --store in one commit, reads them back and compares the sums. The database has to be empty. The file is only read.

To move a service, stop it, import its coffer.db, move that file out of the data directory, and start the service with
the same --data and with --store.`,
		Example: "  coffer serve import ./lab/coffer.db --store postgres://coffer@127.0.0.1:5432/coffer",
		Args:    OneArg("file to read"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if address == "" {
				return &UsageError{Problem: "--store has to name the database", Hint: "such as " +
					"--store postgres://coffer@127.0.0.1:5432/coffer"}
			}
			return p.Store.Import(cmd.Context(), args[0], address)
		},
	}
	cmd.Flags().StringVar(&address, "store", "", "the `ADDRESS` of an empty database")
	return cmd
}
