package config

import (
	"reflect"
	"slices"
	"strings"

	"coffer/api"
	"coffer/api/network"
)

// Setting describes one key of the configuration file. Key is its dotted name with * for a name that the user chooses.
// Type is "text", "number", "true or false" or "list of texts". Default is the value that holds without the key, as
// the file writes it; "" for none. Values lists all allowed values, nil where there are many.
type Setting struct {
	Key, Type, Default, What string
	Values                   []string
	Required                 bool
}

// Settings lists every key of the configuration file in the order of the example. Keys and types come from the Go
// types that a file decodes into.
func Settings() []Setting {
	var out []Setting
	eachKey(reflect.TypeFor[File](), nil, func(key []string, t reflect.Type) {
		name := strings.Join(key, ".")
		s := settingWords()[name]
		s.Key, s.Type = name, typeWord(t)
		out = append(out, s)
	})
	return out
}

// eachKey visits every key below a type that is decoded from TOML, in the order of its fields.
func eachKey(t reflect.Type, prefix []string, visit func(key []string, t reflect.Type)) {
	for f := range fieldsOf(t) {
		key := append(slices.Clone(prefix), f.name)
		inner := f.t
		switch {
		case inner.Kind() == reflect.Map:
			key, inner = append(key, "*"), inner.Elem()
		case inner.Kind() == reflect.Slice && inner.Elem().Kind() == reflect.Struct, inner.Kind() == reflect.Pointer:
			inner = inner.Elem()
		}
		if inner.Kind() == reflect.Struct {
			eachKey(inner, key, visit)
			continue
		}
		visit(key, inner)
	}
}

// field is a field of a struct under its name in TOML.
type field struct {
	name  string
	index int
	t     reflect.Type
}

// fieldsOf iterates over the fields of a struct that have a name in TOML.
func fieldsOf(t reflect.Type) func(yield func(field) bool) {
	return func(yield func(field) bool) {
		for i := range t.NumField() {
			name, _, _ := strings.Cut(t.Field(i).Tag.Get("toml"), ",")
			if name != "" && name != "-" && !yield(field{name, i, t.Field(i).Type}) {
				return
			}
		}
	}
}

func typeWord(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Bool:
		return "true or false"
	case reflect.Int:
		return "number"
	case reflect.Slice:
		return "list of texts"
	}
	return "text"
}

// settingWords describes each key. A test compares it with the keys of the types.
func settingWords() map[string]Setting {
	kinds := []string{string(network.Embedded), string(network.Lab), string(network.Test), string(network.Real)}
	return map[string]Setting{
		"version": {Required: true, Values: []string{"1"}, What: "Version of the file's form."},
		"default": {Default: `"` + DemoProfile + `"`, What: "Profile that is used without " +
			"--profile and COFFER_PROFILE. The profile demo always exists: play money inside this program."},
		"profiles.*.kind": {Required: true, Values: kinds, What: "What the network is. You declare it, the " +
			"service cannot: embedded runs inside this program, lab is play money elsewhere, test are public test " +
			"networks, real is money."},
		"profiles.*.network_id": {What: "Which network this is: 0x and 64 hexadecimal digits. coffer profile add " +
			"writes it down once you have compared the fingerprint. A profile that signs needs it."},
		"profiles.*.network_file": {What: "network.json of the service, with its chains and fixed addresses."},
		"profiles.*.base_url": {
			What: "Address of the service, https only, without user name, query or fragment. Not for kind embedded."},
		"profiles.*.ca_file": {
			What: "Certificate authority of a service that signs its own certificate; without it those of the system " +
				"hold."},
		"profiles.*.networks": {What: "The file networks.toml of a profile on your own nodes: the service " +
			"runs inside this program and asks them. Without base_url, ca_file and network_file."},
		"profiles.*.nodes": {What: "Your own nodes, each as CHAIN=URL: the wallet reads there what the service " +
			"says of balances, nonces and payments (docs/networks.md). A key of a node is written ${vault:NAME}."},
		"profiles.*.vault": {Required: true, Values: []string{VaultKeyring, VaultKeyringOnly, VaultFile,
			VaultMemory}, What: "Where the keys are: the system's keyring and a passphrase around each key, the " +
			"keyring alone, an encrypted file, or nowhere. Nothing falls back to another place."},
		"profiles.*.lock_after": {Default: `"5m"`,
			What: "Lock the vault after this time without use, from 10s to 24h."},
		"profiles.*.quote_lifetime": {What: "How long a quote may be accepted, from 30s to 10m, where the service " +
			"runs inside this program. Without the line: 60s. The process that opened the service first decides."},
		"profiles.*.rpc": {What: "Where the chains answer JSON-RPC while the dashboard runs, such as " +
			`"127.0.0.1:8545"; embedded profiles only (docs/devnet.md). Without the line: nowhere.`},
		"profiles.*.policy_file": {What: "Limits of what may be signed (docs/policy.md); read again at every start."},
		"profiles.*.signer_command": {What: "A program and its arguments that sign instead of the vault " +
			"(docs/keys.md). Everyone on the machine can read arguments: put no secret here."},

		"profiles.*.default_account": {
			What: "Name of the EVM account that is used without --account; without the line the first one."},

		"profiles.*.accounts.type": {Required: true,
			Values: []string{api.AccountRoleBased, api.AccountKernelV31, api.AccountKernelV33, api.AccountSolana},
			What: "Kind of the account. A profile has any number of EVM accounts, of which one is used at a time, " +
				"and one Solana account at most, which is used beside it."},
		"profiles.*.accounts.name": {What: "Your name for the account, for --account and the first line of the " +
			"screens: up to 24 letters and digits, with blanks, -, _ or . between them."},
		"profiles.*.accounts.account_address": {What: "Address of the account. It follows from the keys and is " +
			"needed for Solana, and for a role-based account whose session key was replaced."},
		"profiles.*.accounts.signer_address":  {What: "Address of the owner's key (kernel accounts)."},
		"profiles.*.accounts.session_address": {What: "Address of the session key (role-based accounts)."},
		"profiles.*.accounts.admin_address":   {What: "Address of the admin key (role-based accounts)."},
		"profiles.*.accounts.deployment_type": {
			Values: []string{api.DeploymentERC4337, api.DeploymentEIP7702}, What: "EIP7702 for a kernel-v3.3-ecdsa " +
				"account, which is its signer delegated; ERC4337 or nothing for the others.",
		},
		"profiles.*.accounts.first_session_address": {What: "Session key that a role-based account was made with, " +
			"once session_address was replaced; together with account_address."},

		"ui.theme": {Default: `"` + ThemeAuto + `"`, Values: Themes(),
			What: "Colours of the screens; auto follows the background that the terminal reports."},
		"ui.mouse": {What: "Whether the mouse works at the start. Without the line: on, and off over SSH."},
		"ui.dust": {Default: `"` + DefaultDust + `"`,
			What: "In USD: priced holdings below it appear in a separate group; \"0\" for none."},
		"ui.hide_amounts": {Default: "false", What: "Hide amounts at the start."},
		"ui.ascii":        {Default: "false", What: "Draw ASCII characters only."},
		"ui.clipboard": {Default: "true",
			What: "Send copies to the clipboard of the terminal (OSC 52); with false nothing is sent to it."},
		"ui.notify": {Default: `"` + NotifyAuto + `"`, Values: Notifications(),
			What: "Whether the terminal notifies you when an operation ends. auto: where it is known to show " +
				"notifications, and not over SSH; details: always, with what it was, without amounts."},
		"ui.keys.*":   {What: "Another key for an action. Write the name in quotes; ? and then n show the names."},
		"ui.colors.*": {What: "Another colour, #rrggbb or one of 256, for " + strings.Join(ColorNames(), ", ") + "."},
	}
}
