package tui

import (
	"os"
	"strings"
	"testing"

	"coffer/config"
	"coffer/ui/tui/internal/job"
	"coffer/ui/tui/screen"
	"coffer/ui/tui/theme"
)

// The page of the configuration names every action of the shell with its key, every fixed key and every colour, and its
// example is valid.
func TestTheConfigurationPageIsComplete(t *testing.T) {
	bubble(func(t *testing.T) {
		raw, err := os.ReadFile("../../docs/configuration.md")
		if err != nil {
			t.Fatal(err)
		}
		page := string(raw)
		m, _, _ := withPad(t, func(o *Options) {
			o.beside(func(screen.Context) map[screen.ID]screen.Screen {
				out := map[screen.ID]screen.Screen{}
				for _, id := range append(screen.Tabs(), screen.Overlays()...) {
					out[id] = &padScreen{title: string(id)}
				}
				return out
			})
		})
		m.job = &job.Job{}
		for _, k := range m.shellKeys() {
			row := rowOf(page, "`shell."+k.ActionName()+"`")
			if row == "" || !strings.HasPrefix(k.ActionName(), "open-") && !strings.Contains(row, "`"+k.Press[0]+"`") {
				t.Errorf("no row for shell.%s with %v: %q", k.ActionName(), k.Press, row)
			}
		}
		for _, word := range append(append(config.FixedKeys(), config.ColorNames()...),
			append(config.KeyOwners(), theme.Names()...)...) {
			if !strings.Contains(page, "`"+word+"`") {
				t.Errorf("the page does not name %s", word)
			}
		}
		_, example, _ := strings.Cut(page, "```toml\n[ui]")
		example, _, _ = strings.Cut(example, "```")
		if _, err := config.Parse("configuration.md", []byte("version = 1\n[ui]"+example)); err != nil {
			t.Errorf("the example: %v", err)
		}
	})(t)
}

func rowOf(page, word string) string {
	for _, line := range strings.Split(page, "\n") {
		if strings.HasPrefix(line, "|") && strings.Contains(line, word) {
			return line
		}
	}
	return ""
}
