package builder

import (
	"errors"
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"

	"coffer/api/amount"
	"coffer/api/caip"
	"coffer/ui/compose"
	"coffer/ui/present"
	"coffer/ui/tui/kit"
)

// maxFaults bounds the faults of a list that the dialog shows.
const maxFaults = 8

// askPayouts asks for a list of payouts: a file, or a pasted list.
func (s *Screen) askPayouts() {
	label := "the path of a CSV file, or paste the list"
	if s.ctx.NoFiles != "" {
		label = "paste the list"
	}
	s.prompt.show("Read a list of payouts", label, 4096, s.payoutsAnswer)
	s.prompt.docs, s.prompt.list = true, true
	s.prompt.hint = "CSV: recipient, amount, then asset and note if you like. Enter reads it into the form; nothing " +
		"is sent. What is there comes back with U"
}

func (s *Screen) payoutsAnswer(path string) tea.Cmd {
	return s.source(path, func(b []byte, err error) tea.Msg { return importedMsg{list: b, err: err} })
}

// readList puts the payments of a list on the screen, asks which asset its rows pay, or says in the dialog what is
// wrong. asset is the one of rows that name none; "": not known yet.
func (s *Screen) readList(list []byte, asset string) tea.Cmd {
	form, err := s.ReadPayouts(list, caip.Chain{}, asset)
	faults := compose.PayoutFaults(nil)
	switch {
	case errors.As(err, &faults) && faults.LackAsset() && asset == "":
		s.prompt.close()
		s.openList("Which asset do they pay, and where", s.payoutAssets(), "", func(id string) tea.Cmd {
			return s.readList(list, id)
		})
		return nil
	case err != nil:
		if !s.prompt.open {
			s.askPayouts()
			s.prompt.doc = string(list)
		}
		s.prompt.wrong = faultWords(faults, err)
		return nil
	}
	s.prompt.close()
	s.remember()
	s.touched()
	s.place = place{}
	s.form, s.b = formCalls, form
	s.focus = idReview
	s.note = remark(compose.Good, present.Plural(len(form.Calls), "payment", "payments")+" on "+
		s.ChainName(form.Chain)+": "+s.spentWords(form)+"; U brings back what was there")
	return nil
}

// spentWords sums what a form spends, by asset.
func (s *Screen) spentWords(form *compose.Calls) string {
	var out []string
	for _, r := range form.Spent(&s.World) {
		e, _ := s.Entity(r.AssetType)
		v, _ := amount.ParseBase(r.Amount)
		out = append(out, amount.Human(v, e.Decimals)+" "+e.Symbol)
	}
	return strings.Join(out, " and ")
}

// faultWords are the faults of a list, one a line.
func faultWords(faults compose.PayoutFaults, err error) string {
	if len(faults) == 0 {
		return plain(err)
	}
	var lines []string
	for _, f := range faults[:min(len(faults), maxFaults)] {
		lines = append(lines, present.Clean(f.String(), 200))
	}
	if n := len(faults) - maxFaults; n > 0 {
		lines = append(lines, "and "+strconv.Itoa(n)+" more; coffer pay FILE --dry-run prints all")
	}
	return strings.Join(lines, "\n")
}

// payoutAssets lists the assets of every EVM chain, those of the form's chain first.
func (s *Screen) payoutAssets() []kit.Item {
	var first, rest []kit.Item
	for _, k := range s.Catalog.Chains() {
		for _, e := range s.AssetsOn(k.Chain, true) {
			it := kit.Item{Value: e.Asset.String(), Label: e.Symbol + " on " + k.Name,
				Note: "you have " + s.held(s.Money.Of(e.Asset), e.Decimals)}
			if k.Chain == s.b.Chain {
				first = append(first, it)
			} else {
				rest = append(rest, it)
			}
		}
	}
	return append(first, rest...)
}
