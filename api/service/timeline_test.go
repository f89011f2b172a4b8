package service

import (
	"strings"
	"testing"
)

func TestADatabaseThatIsNotWhatWasWrittenLastIsNoticed(t *testing.T) {
	here := timeline{ID: "a", Opened: 5, Dir: "/data"}
	on := func(server string) timeline { return timeline{ID: "a", Opened: 5, Dir: "/data", Server: server} }
	for name, c := range map[string]struct {
		store timeline
		file  *timeline
		says  string
	}{
		"a new one":                       {timeline{}, nil, ""},
		"a new one where another was":     {timeline{}, &timeline{ID: "b", Opened: 3}, ""},
		"the one of before":               {here, &timeline{ID: "a", Opened: 5}, ""},
		"a process that ended in between": {here, &timeline{ID: "a", Opened: 4}, ""},
		"an older copy":                   {here, &timeline{ID: "a", Opened: 6}, "opened 5 times, and 6 times before"},
		"another one":                     {here, &timeline{ID: "b", Opened: 1}, "another one than before"},
		"a file that cannot be read":      {here, &timeline{}, "another one than before"},
		"one that was put there alone":    {here, nil, "without timeline.json"},
		"a copy of the directory": {timeline{ID: "a", Opened: 5, Dir: "/other"}, &timeline{ID: "a", Opened: 5},
			"moved or copied"},
		"a promoted standby": {on("1/1"), &timeline{ID: "a", Opened: 5, Server: "1/1"}, "a standby was promoted"},
		"a dump that was restored where it had been made": {on("1/1"), &timeline{ID: "a", Opened: 5, Server: "1/2"},
			"a backup restored"},
		"a promoted standby that another process has opened": {
			timeline{ID: "a", Opened: 6, Dir: "/other", Server: "1/2"},
			&timeline{ID: "a", Opened: 5, Server: "1/1"}, ""},
		"a dump of before servers told": {here, &timeline{ID: "a", Opened: 5, Server: "1/1"}, "a backup restored"},
		"the server of before":          {on("1/2"), &timeline{ID: "a", Opened: 5, Server: "1/2"}, ""},
		"a spare's first turn":          {on("1/2"), nil, ""},
		"a spare's later turn": {timeline{ID: "a", Opened: 9, Dir: "/other", Server: "1/2"},
			&timeline{ID: "a", Opened: 5, Server: "1/2"}, ""},
		"a spare of a server that lost commits": {timeline{ID: "a", Opened: 4, Dir: "/other", Server: "1/2"},
			&timeline{ID: "a", Opened: 5, Server: "1/2"}, "an older copy"},
		"a server for the first time": {here, &timeline{ID: "a", Opened: 5}, ""},
	} {
		got := c.store.behind(c.file, "/data", "1/2")
		if (got == "") != (c.says == "") || !strings.Contains(got, c.says) {
			t.Errorf("%s: %q", name, got)
		}
	}
}
