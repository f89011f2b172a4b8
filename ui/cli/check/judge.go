package check

import (
	"encoding/hex"
	"errors"
	"io/fs"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api"
	"coffer/api/catalog"
	"coffer/api/network"
	"coffer/ui/cli"
	"coffer/ui/present"
	"coffer/wallet/consent"
	"coffer/wallet/intent"
	"coffer/wallet/policy"
	"coffer/wallet/verify"
)

// judgement is one run over the documents.
type judgement struct {
	catalog *catalog.Catalog
	in      *inputs
	now     time.Time
	policy  policy.File
	first   map[common.Address]common.Address
	result  Result

	intent intent.Intent
	rules  verify.Policy
	call   *verify.PreparedView // nil until the prepared call is accepted
}

// readPolicy reads the limits of a named file; the file must exist.
func readPolicy(path string) (policy.File, error) {
	if path == "" {
		return policy.File{}, nil
	}
	f, err := policy.Read(path)
	var wrong *policy.Error
	if errors.As(err, &wrong) || errors.Is(err, fs.ErrNotExist) {
		return f, &cli.UsageError{Problem: err.Error()}
	}
	return f, err
}

// run fills the result. A missing argument is an error; every fault of the documents is in the result.
func (j *judgement) run() error {
	if len(j.in.broken) > 0 {
		j.result.Reasons = j.in.broken
		return nil
	}
	for _, k := range []kind{kindNetwork, kindIntent} {
		if j.in.raw[k] == nil {
			return &cli.UsageError{Problem: string(k) + " is missing: without it there is nothing to compare with",
				Hint: "give the file, or a bundle that holds it"}
		}
	}
	if !j.readNetwork() || !j.readIntent() {
		return nil
	}
	if err := j.judge(); err != nil {
		return err
	}
	j.result.Reasons = append(j.result.Reasons, Reason{
		Code: "V5", Level: string(verify.Unknown),
		Title: "The wallet's journal is not at hand: reused nonces and quote ids, new recipients and what was spent " +
			"today were not checked.",
	})
	j.result.Accepted = len(j.result.Reviews) > 0
	for _, r := range j.result.Reviews {
		j.result.Accepted = j.result.Accepted && r.Accepted
	}
	return nil
}

func (j *judgement) readNetwork() bool {
	n, err := network.Decode(j.in.raw[kindNetwork])
	if err != nil {
		j.result.Reasons = append(j.result.Reasons,
			unreadable("The network's descriptor is not one that can be trusted.", err))
		return false
	}
	j.result.Network = &Network{ID: n.ID, Kind: string(n.Kind), Fingerprint: n.Fingerprint()}
	j.rules = verify.DefaultPolicy(n, j.catalog)
	j.rules.Limits, j.rules.FirstSession = j.policy.Limits(n.ID).OrDefault(n.Kind), j.first
	return true
}

func (j *judgement) readIntent() bool {
	in, err := intent.Parse(j.in.raw[kindIntent], api.Rules{Catalog: j.catalog, Now: j.now})
	var broken *intent.Error
	switch {
	case errors.As(err, &broken):
		for _, f := range broken.Failures {
			j.result.Reasons = append(j.result.Reasons, Reason{
				Code: "V5", Level: string(verify.Refuse), Title: "The intent breaks a rule.", Path: clean(f.Path),
				Want: clean(f.Expected), Got: clean(f.Got),
			})
		}
		return false
	case err != nil:
		j.result.Reasons = append(j.result.Reasons, unreadable("The intent cannot be read.", err))
		return false
	}
	j.intent = in
	hash := in.Hash()
	j.result.Intent = &Intent{ID: in.ID(), Hash: "0x" + hex.EncodeToString(hash[:]), Kind: in.Kind(),
		Interface: intent.InterfaceV3}
	if in.V1() {
		j.result.Intent.Interface = intent.InterfaceV1
	}
	for _, a := range in.Draft().Accounts {
		j.result.Intent.Accounts = append(j.result.Intent.Accounts, accountOf(a))
	}
	return true
}

// judge passes the answers through the verifier in the order of the flow.
func (j *judgement) judge() error {
	has := func(k kind) bool { return j.in.raw[k] != nil }
	if j.intent.Kind() != intent.KindCall {
		if has(kindPrepared) || has(kindRequest) || j.in.signatures != nil {
			return &cli.UsageError{Problem: "a " + j.intent.Kind() +
				" has a quote and nothing that was prepared before"}
		}
		if !has(kindQuote) {
			return &cli.UsageError{Problem: "there is nothing to judge: give the quote of the " + j.intent.Kind()}
		}
		return j.exchange()
	}
	if !has(kindPrepared) {
		problem := "there is nothing to judge: give the answer to prepare"
		if has(kindQuote) || has(kindRequest) {
			problem = "the quote of a call is judged against the answer to prepare: give that too"
		}
		return &cli.UsageError{Problem: problem}
	}
	prepared := j.prepared()
	if has(kindQuote) {
		return j.quote(prepared)
	}
	if prepared != nil && (has(kindRequest) || j.in.signatures != nil) {
		_, _, err := j.signed(prepared, &j.result.Reviews[0])
		return err
	}
	return nil
}

// about is what a review is made of, judged without the journal.
func (j *judgement) about(report verify.Report) present.Review {
	return present.Review{
		Review:  consent.Review{Intent: j.intent.Draft(), Report: verify.WithoutHistory(report)},
		Catalog: j.catalog, Person: consent.Person{From: consent.TypeFrom()}, Clock: cli.Clock,
	}
}

func (j *judgement) add(r Review) { j.result.Reviews = append(j.result.Reviews, r) }

// unjudged adds a review of a quote whose premise is refused.
func (j *judgement) unjudged(name, premise string) {
	j.add(Review{Document: name, Reasons: []Reason{{Code: "Q14", Level: string(verify.Unknown),
		Title: "The quote was not judged, because " + premise + " is refused."}}})
}

// document is a document that is there; nil, and a review that says so, when it does not read.
func (j *judgement) document(name string, k kind) *api.Document {
	doc, why := j.in.document(k)
	if why != nil {
		j.add(Review{Document: name, Reasons: []Reason{*why}})
	}
	return doc
}

// prepared judges the answer to prepare; the result is nil when it is refused.
func (j *judgement) prepared() *verify.PreparedOp {
	const name = "prepared call"
	doc := j.document(name, kindPrepared)
	if doc == nil {
		return nil
	}
	p, report := verify.Prepared(j.intent, j.rules, verify.NoHistory{}, j.now, doc)
	about := j.about(report)
	if p != nil {
		v := p.View()
		about.Call, j.call = &v, &v
	}
	r := Of(name, about)
	if p != nil {
		r.Operations = []Operation{operationOf(p.Signing().Digests())}
	}
	j.add(r)
	return p
}

// exchange judges the quote of a swap or a transfer.
func (j *judgement) exchange() error {
	name := "quote of the " + j.intent.Kind()
	doc := j.document(name, kindQuote)
	if doc == nil {
		return nil
	}
	q, report := verify.Exchange(j.intent, j.rules, verify.NoHistory{}, j.now, doc)
	j.verified(name, q, report)
	return nil
}

// verified adds the review of a judged quote, nil for a refused one.
func (j *judgement) verified(name string, q *verify.VerifiedQuote, report verify.Report) {
	if q == nil {
		j.add(Of(name, j.about(report)))
		return
	}
	var signing []verify.Digests
	for _, s := range q.Operations() {
		signing = append(signing, s.Digests())
	}
	j.quoted(name, q.View(), signing, report)
}

// quoted adds the review of a quote with what gets signed.
func (j *judgement) quoted(name string, v verify.QuoteView, signing []verify.Digests, report verify.Report) {
	about := j.about(report)
	about.Call, about.Quote = j.call, &v
	r := Of(name, about)
	for _, d := range signing {
		r.Operations = append(r.Operations, operationOf(d))
	}
	j.add(r)
}

// quote judges the quote of a call against the prepared operation, with its signature if given.
func (j *judgement) quote(prepared *verify.PreparedOp) error {
	const name = "quote of the call"
	doc := j.document(name, kindQuote)
	if doc == nil {
		return nil
	}
	if prepared == nil {
		j.unjudged(name, "the prepared call that it belongs to")
		return nil
	}
	signed, given, err := j.signed(prepared, &j.result.Reviews[0])
	switch {
	case err != nil:
		return err
	case given && signed == nil:
		j.unjudged(name, "the signature of the prepared call")
	case given:
		q, report := verify.Quote(j.intent, j.rules, verify.NoHistory{}, j.now, signed, doc)
		j.verified(name, q, report)
	default:
		q, report := verify.Unsigned(j.intent, j.rules, verify.NoHistory{}, j.now, prepared, doc)
		if q == nil {
			j.add(Of(name, j.about(report)))
		} else {
			j.quoted(name, q.View(), q.Digests(), report)
		}
	}
	return nil
}
