package cli

import (
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"coffer/api"
	"coffer/api/catalog"
	"coffer/api/network"
	"coffer/config"
	"coffer/wallet/intent"
	"coffer/wallet/vault"
)

// values finds what a flag or an argument may be, offline: in the configuration, the catalogue and the journal. It
// opens no vault, asks no service and changes no file; what it cannot read adds nothing.
type values struct {
	p   Program
	cat *catalog.Catalog
}

// Results of a completion.
const (
	noFiles = cobra.ShellCompDirectiveNoFileComp
	inOrder = cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
)

// files completes names of files, those with one of the extensions if any are given.
func files(extensions ...string) cobra.CompletionFunc {
	return func(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(extensions) == 0 {
			return nil, cobra.ShellCompDirectiveDefault
		}
		return extensions, cobra.ShellCompDirectiveFilterFileExt
	}
}

func directories(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveFilterDirs
}

func nothing(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return nil, noFiles
}

// of completes fixed words.
func of(words ...string) cobra.CompletionFunc {
	return func(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
		return words, inOrder
	}
}

// arguments completes the words after a command that belong to no flag.
func (v values) arguments(c *cobra.Command) cobra.CompletionFunc {
	switch c.CommandPath() {
	case "coffer apply", "coffer plan":
		return once(files("toml", "json"))
	case "coffer pay":
		return once(files("csv"))
	case "coffer call", "coffer intent from-safe", "coffer intent to-safe":
		return once(files("json"))
	case "coffer verify":
		return files("json")
	case "coffer status":
		return once(v.operations)
	case "coffer refund":
		return v.quotes
	case "coffer config check":
		return once(files("toml"))
	case "coffer man":
		return once(directories)
	case "coffer contacts rename", "coffer contacts remove":
		return once(v.contacts)
	case "coffer accounts rename", "coffer accounts default", "coffer accounts remove":
		return once(v.accounts)
	case "coffer contacts import":
		return once(files("json", "csv"))
	case "coffer keys node-key set", "coffer keys node-key remove":
		return once(v.nodeKeys)
	case "coffer keys backup", "coffer keys restore":
		return once(files())
	}
	return nothing
}

// once completes only the first argument.
func once(f cobra.CompletionFunc) cobra.CompletionFunc {
	return func(c *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, noFiles
		}
		return f(c, args, typed)
	}
}

// flag completes the value of a flag: by its name and command, else by the name of its value.
func (v values) flag(c *cobra.Command, f *pflag.Flag) cobra.CompletionFunc {
	if fn := v.byName(c, f.Name); fn != nil {
		return several(f, fn)
	}
	switch value, _ := pflag.UnquoteUsage(f); strings.ToLower(value) {
	case "file":
		return files()
	case "dir", "directory":
		return directories
	}
	return nothing
}

// byName completes the flags that mean the same on every command.
func (v values) byName(c *cobra.Command, name string) cobra.CompletionFunc {
	switch name {
	case "profile":
		return v.profiles
	case "account":
		return v.accounts
	case "chain", "limit-chains":
		return v.chains
	case "asset", "fund-with":
		return v.assets
	case "for":
		return v.onChain
	case "to":
		return v.recipients
	case "fault":
		return v.faults
	case "out", "file", "admin-key-file", "key-file", "prepared", "request", "quote", "intent", "network",
		"authorized-keys", "host-key":
		return files()
	case "network-file":
		return files("json")
	case "ca-file":
		return files("pem", "crt", "cer")
	case "policy-file", "policy":
		return files("toml")
	}
	return fixed(c, name)
}

// fixed are the values that are known beforehand.
func fixed(c *cobra.Command, name string) cobra.CompletionFunc {
	switch name {
	case "type":
		if c.Name() == "history" {
			return of(api.RecordCall, api.RecordSwap, api.RecordTransfer)
		}
		return of(api.AccountRoleBased, api.AccountKernelV31, api.AccountKernelV33, api.AccountSolana)
	case "status":
		return of(api.StatusPending, api.StatusInProgress, api.StatusExecuted, api.StatusCompleted, api.StatusRefunded,
			api.StatusFailed)
	case "kind":
		if strings.HasPrefix(c.CommandPath(), "coffer keys") {
			return of(string(vault.EVM), string(vault.Solana))
		}
		if strings.HasPrefix(c.CommandPath(), "coffer network") {
			return of(string(network.Real), string(network.Test), string(network.Lab))
		}
		return of(string(network.Embedded), string(network.Lab), string(network.Test), string(network.Real))
	case "vault":
		return of(config.VaultKeyring, config.VaultKeyringOnly, config.VaultFile, config.VaultMemory)
	case "interface":
		return of(intent.InterfaceV3, intent.InterfaceV1)
	case "format":
		return of("toml", "json")
	case "tokens":
		return of("priced\tthose with a price feed", "all", "none")
	case "now":
		return of("saved\tthe time that a bundle names")
	case "permission":
		return of("read\tevery GET", "quote\tpredict, prepare, quote", "execute\texecute, relay")
	case "fund":
		return of("always", "never")
	case "log-format":
		return of("text", "json")
	case "log-level":
		return of("debug", "info", "warn", "error")
	case "listen":
		return of("127.0.0.1:8443\ton this machine only", "0.0.0.0:8443\ton every interface")
	}
	return nil
}

// several lets a flag that takes a comma-separated list continue after the last comma.
func several(f *pflag.Flag, fn cobra.CompletionFunc) cobra.CompletionFunc {
	if f.Value.Type() != "stringSlice" {
		return fn
	}
	return func(c *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		at := strings.LastIndexByte(typed, ',') + 1
		found, how := fn(c, args, typed[at:])
		if at == 0 || how&^inOrder != 0 {
			return found, how
		}
		out := make([]cobra.Completion, len(found))
		for i, one := range found {
			out[i] = typed[:at] + one
		}
		return out, how
	}
}
