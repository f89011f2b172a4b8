// Package guard runs the code that touches a key. Built with GOEXPERIMENT=runtimesecret, Do erases the registers and
// the stack that the code used before it returns, and what it allocated as soon as the garbage collector finds it
// unreachable; built without, Do only calls the function (TH-K4).
//
// Limits, in both builds: goroutines that the code starts and package variables that it writes are not covered, and the
// experiment works on Linux with amd64 and arm64 only. Whoever holds a key therefore also wipes its bytes itself.
package guard
