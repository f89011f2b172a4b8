package cli

import "github.com/spf13/cobra"

func (p Program) serve() *cobra.Command {
	var o ServeOptions
	fund := "always"
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Run the service for a team over HTTPS",
		Long: `Runs the service with its own chains, kept in the data directory. The certificate is signed by a certificate authority
that is kept there too; give its file to the wallets. Every service that this command runs is a lab: play money.
It stops cleanly on an interrupt or a termination signal.`,
		Example: "  coffer serve --listen 127.0.0.1:8443 --data ./lab\n  coffer serve --listen 0.0.0.0:8443 --host wallet.example --json",
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch fund {
			case "always":
				o.Fund = true
			case "never":
			default:
				return &UsageError{Problem: "--fund takes always or never"}
			}
			return p.Serve(cmd.Context(), o)
		},
	}
	cmd.Flags().StringVar(&o.Listen, "listen", "127.0.0.1:8443", "address and port; port 0 takes a free one")
	cmd.Flags().StringVar(&o.Data, "data", "", "data directory (default: below the user's data directory)")
	cmd.Flags().BoolVar(&o.JSON, "json", false, "print one line of JSON with address, CA file, key and network file once the port accepts")
	cmd.Flags().StringSliceVar(&o.Hosts, "host", nil, "further host names of the certificate")
	cmd.Flags().StringVar(&fund, "fund", fund, "test funds for addresses that are named the first time: always or never")
	return cmd
}
