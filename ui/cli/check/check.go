// Package check is `coffer verify` and `coffer intent`: the checks of saved documents on a machine without keys and
// without a network.
//
// Promise: `coffer verify` judges saved answers by the same functions as the wallet does before it signs (package
// verify), recomputes every digest and the fingerprints of the review screens, and prints what it decoded, what passed
// and what it refused. It opens the given files and nothing else. It refuses a document that does not read, and
// reports what it could not check as unknown. It cleans foreign text, prints addresses and data in full, and colours
// nothing.
//
// Errors: a refusal is a *cli.RefusedError (exit 4), an unusable command line or policy a *cli.UsageError (exit 2).
// Sources: TH-V3, V5.
package check

import (
	"bytes"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/spf13/cobra"

	"coffer/api/caip"
	"coffer/api/catalog"
	"coffer/ui/cli"
	"coffer/wallet/intent"
)

// Commands answers `coffer verify` and `coffer intent`. Clock is time.Now outside tests.
type Commands struct {
	Out     io.Writer
	Catalog func() (*catalog.Catalog, error)
	Clock   func() time.Time
}

const verifyHelp = `Judges saved documents as the wallet does before it signs: every check, every digest, and the
review codes that the review screens show. It needs no network and no key, so a second machine can do it.

A file is an intent, the network's descriptor (network.json), an answer to prepare, the signed request for a quote, or
a quote; each is known by its content, or named with a flag. A plan file counts as its intent, and what call,
transfer, swap or apply printed with --json as the answers in it. One file can be a bundle of them all. The quote of a
call is judged against the prepared answer; whether that was signed is known only with the signed request or the
signatures of a bundle.

A reused nonce or quote id, a recipient that is new and what was spent today are known to the journal of the wallet
alone and are not checked here.

Exit codes: 0 accepted, 4 refused (a gate that is not open counts), 2 the command line, or a file that cannot be read,
1 anything else.`

// options are the flags of `coffer verify`.
type options struct {
	files        []string
	named        map[kind]*string
	policy, now  string
	first        []string
	json, schema bool
}

// Verify builds `coffer verify`.
func (c Commands) Verify(*cli.Global) *cobra.Command {
	o := options{named: map[kind]*string{}}
	cmd := &cobra.Command{
		Use:   "verify FILE...",
		Short: "Judge saved answers of the service, without network and keys",
		Long:  verifyHelp,
		Example: `  coffer verify intent.json network.json prepared.json
  coffer verify intent.json network.json prepared.json request.json quote.json --now 2026-01-31T12:00:00Z
  coffer verify bundle.json --now saved --policy policy.toml --json
  coffer verify --schema > intent.schema.json`,
		Args: cobra.ArbitraryArgs,
		RunE: func(_ *cobra.Command, args []string) error {
			o.files = args
			return c.verify(o)
		},
	}
	f := cmd.Flags()
	for _, k := range []kind{kindIntent, kindNetwork, kindPrepared, kindRequest, kindQuote} {
		o.named[k] = f.String(k.flag(), "", "file with "+string(k))
	}
	f.StringVar(&o.policy, "policy", "", "policy file with your limits (docs/policy.md)")
	f.StringVar(&o.now, "now", "",
		"judge expiry at this time: RFC 3339, Unix seconds, or saved for the time in a bundle (default: the present)")
	f.StringSliceVar(&o.first, "first-session", nil,
		"ACCOUNT=SESSION: the session key that a role-based account was made with, if it was replaced")
	cli.JSONFlag(cmd, &o.json)
	f.BoolVar(&o.schema, "schema", false, "print the JSON schema of intent files")
	return cmd
}

func (c Commands) verify(o options) error {
	if o.schema && len(o.files) > 0 {
		return &cli.UsageError{Problem: "--schema prints the schema and judges nothing, so it takes no files"}
	}
	if o.schema {
		return c.write(intent.Schema())
	}
	cat, err := c.Catalog()
	if err != nil {
		return err
	}
	in, err := readInputs(o)
	if err != nil {
		return err
	}
	first, err := firstSessions(o.first)
	if err != nil {
		return err
	}
	now, from, err := c.time(o.now, in)
	if err != nil {
		return err
	}
	limits, err := readPolicy(o.policy)
	if err != nil {
		return err
	}
	j := judgement{catalog: cat, in: in, now: now, policy: limits, first: first}
	j.result = Result{Now: now.UTC().Format(time.RFC3339), NowFrom: from, Policy: clean(o.policy)}
	if err := j.run(); err != nil {
		return err
	}
	if err := c.print(j.result, o.json); err != nil {
		return err
	}
	if !j.result.Accepted {
		return &cli.RefusedError{Problem: "refused: do not sign this"}
	}
	return nil
}

func (c Commands) print(r Result, asJSON bool) error {
	if !asJSON {
		return c.write([]byte(r.text()))
	}
	return c.document(r)
}

// document writes a value as JSON for people to read.
func (c Commands) document(v any) error {
	b, err := json.Marshal(v, json.Deterministic(true), jsontext.WithIndent("  "))
	if err != nil {
		return fmt.Errorf("print the result: %w", err)
	}
	return c.write(b)
}

// write prints bytes that end with a line feed.
func (c Commands) write(b []byte) error {
	_, err := fmt.Fprintf(c.Out, "%s\n", bytes.TrimRight(b, "\n"))
	return err
}

// time reads --now; it uses a time that a file names only on request, because the author of the file chose it.
func (c Commands) time(s string, in *inputs) (time.Time, string, error) {
	switch {
	case s == "" || len(in.broken) > 0: // an unreadable document is refused at any time
		return c.Clock(), "the present", nil
	case s == "saved" && in.saved.IsZero():
		return time.Time{}, "", &cli.UsageError{Problem: "--now saved needs a bundle that names its time"}
	case s == "saved":
		return in.saved, "the time that the bundle names", nil
	}
	if sec, err := strconv.ParseInt(s, 10, 64); err == nil && sec > 0 && sec <= maxSeconds {
		return time.Unix(sec, 0), "the time that you name", nil
	}
	at, err := time.Parse(time.RFC3339, s)
	if err != nil {
		return time.Time{}, "", &cli.UsageError{
			Problem: "--now takes a time such as 2026-01-31T12:00:00Z, Unix seconds, or saved"}
	}
	return at, "the time that you name", nil
}

// maxSeconds is the end of the year 9999, in Unix seconds.
const maxSeconds = 253402300799

func firstSessions(list []string) (map[common.Address]common.Address, error) {
	out := map[common.Address]common.Address{}
	for _, s := range list {
		account, session, _ := strings.Cut(s, "=")
		for _, a := range []string{account, session} {
			if _, err := caip.ParseAddress(a); err != nil || caip.CheckEIP55(a) != nil {
				return nil, &cli.UsageError{Problem: "--first-session takes ACCOUNT=SESSION, two addresses of 0x and " +
					"40 hex digits in lower case or with a correct checksum"}
			}
		}
		out[common.HexToAddress(account)] = common.HexToAddress(session)
	}
	return out, nil
}
