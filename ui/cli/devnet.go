package cli

import (
	"net/url"

	"github.com/spf13/cobra"
)

// DevnetOptions are the flags of `coffer devnet`.
type DevnetOptions struct {
	Data        string   // data directory, "" for memory
	Listen      string   // host:port of the endpoints; port 0 takes a free one
	Service     string   // host:port of the service, "" for the usual one
	PortPer     bool     // a port for every chain
	AllowRemote bool     // other machines may reach it
	Hosts       []string // further names of this machine
	CORS        []string // origins of web pages that may call
	Fund        []string // addresses that are funded
	Dev         bool     // methods for test suites
	JSON        bool     // print one line of JSON once everything accepts
}

func (p Program) devnet(g *Global) *cobra.Command {
	var o DevnetOptions
	cmd := &cobra.Command{
		Use:   "devnet",
		Short: "Run the chains for other tools: JSON-RPC, funded keys, the service",
		Long: `Runs the EVM chains and the Solana ledger of this program with an endpoint for each, HTTP and WebSocket
on one URL: for forge, cast, viem, ethers, web3.js and every other tool that speaks JSON-RPC. Beside them runs the
service, so a wallet can pay from one chain on another. It is play money, and without --data it is gone at the end.

Ten accounts have money on every EVM chain. Their keys are those that development networks always have, so everybody
knows them. It prints where everything is and runs until an interrupt or a termination signal.`,
		Example: `  coffer devnet
  coffer devnet --fund 0x70997970C51812dc3A010C7d01b50e0d17dc79C8
  coffer devnet --listen 127.0.0.1:0 --json --dev
  coffer devnet --data ./devnet --port-per-chain --cors http://localhost:3000`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if cmd.Flags().Changed("profile") {
				return &UsageError{Problem: "a devnet has no profile", Hint: "--data names its data directory"}
			}
			if err := notEmpty(cmd, "data", "host", "cors", "fund", "service"); err != nil {
				return err
			}
			if err := o.check(); err != nil {
				return err
			}
			return p.Devnet(cmd.Context(), o)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.Listen, "listen", "127.0.0.1:8545", "where the endpoints listen, as `HOST:PORT`; port 0 takes a "+
		"free one")
	f.StringVar(&o.Service, "service", "", "where the service listens, as `HOST:PORT` (default: port 8443 of the host "+
		"of --listen, or a free one where\n--listen has port 0)")
	f.BoolVar(&o.PortPer, "port-per-chain", false, "a port for each chain, from that of --listen on, for tools that "+
		"take no path")
	f.StringVar(&o.Data, "data", "", "data `directory`, made when it is not there (default: everything is in memory)")
	f.BoolVar(&o.Dev, "dev", false, "add what test suites expect: anvil_, hardhat_ and evm_ methods that change "+
		"state, send without a signature, move\nthe clock and go back to a snapshot")
	f.StringSliceVar(&o.Fund, "fund", nil, "give this EVM or Solana `ADDRESS` 10 000 of every coin and token as well; "+
		"may be given several times")
	f.StringSliceVar(&o.CORS, "cors", nil, "let web pages of this `ORIGIN`, such as http://localhost:3000, call the "+
		"endpoints, * for all; may be given several\ntimes (default: none)")
	f.BoolVar(&o.AllowRemote, "allow-remote", false, "--listen and --service may be addresses that other machines "+
		"reach")
	f.StringSliceVar(&o.Hosts, "host", nil, "further host `name` under which the devnet is reached; may be given "+
		"several times")
	f.BoolVar(&o.JSON, "json", false, "print one line of JSON once everything accepts")
	return cmd
}

// check refuses what needs no devnet to be known wrong.
func (o *DevnetOptions) check() error {
	for name, address := range map[string]string{"listen": o.Listen, "service": o.Service} {
		if address != "" && !isHostPort(address) {
			return &UsageError{
				Problem: "--" + name + " takes an address and a port from 0 to 65535, such as 127.0.0.1:8545"}
		}
	}
	return checkNames(o.Hosts, o.CORS)
}

// checkNames checks host names and origins.
func checkNames(hosts, origins []string) error {
	for _, h := range hosts {
		if !isHost(h) {
			return &UsageError{
				Problem: "--host takes a name such as wallet.example, or an address: without a port, a path or a " +
					"scheme"}
		}
	}
	for _, origin := range origins {
		if !isOrigin(origin) {
			return &UsageError{Problem: "an origin is a scheme, a host and maybe a port, such as http://localhost:3000"}
		}
	}
	return nil
}

// isOrigin reports whether a browser can say that a page is from there.
func isOrigin(s string) bool {
	u, err := url.Parse(s)
	return s == "*" || err == nil && u.Scheme != "" && u.Host != "" && u.Scheme+"://"+u.Host == s
}
