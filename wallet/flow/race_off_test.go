//go:build !race

package flow_test

const underRace = false
