// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {PackedUserOperation} from "./Types.sol";

/// Gives any operation without fees an end: a paymaster that belongs to nobody, stores nothing and pays nothing.
///
/// Without a paymaster a Kernel operation never expires. paymasterAndData = this(20) || gas limits(32) || validUntil(6) ||
/// validAfter(6) || zeros(65), the wire form of a sponsored operation with no signature in it. The operation's owner
/// signs the window with the operation; the entry point enforces it. It has no deposit in the entry point and wants none.
contract Window {
    error InvalidPaymasterData();
    error HasFees();

    uint256 private constant DATA_AT = 52;
    uint256 private constant SIGNATURE_AT = DATA_AT + 12;
    uint256 private constant END = SIGNATURE_AT + 65;

    /// The context is empty, so that the entry point makes no postOp call. Whoever asks gets the same answer.
    function validatePaymasterUserOp(PackedUserOperation calldata op, bytes32, uint256)
        external
        pure
        returns (bytes memory, uint256 validationData)
    {
        bytes calldata data = op.paymasterAndData;
        // Zeros only: one window has one encoding, and nobody takes foreign bytes there for a signature.
        if (
            data.length != END || bytes32(data[SIGNATURE_AT:SIGNATURE_AT + 32]) != 0
                || bytes32(data[SIGNATURE_AT + 32:SIGNATURE_AT + 64]) != 0 || data[END - 1] != 0
        ) revert InvalidPaymasterData();
        // Anybody can fill a paymaster's deposit; with fees it would pay for whoever comes first.
        if (op.gasFees != 0) revert HasFees();
        uint48 validUntil = uint48(bytes6(data[DATA_AT:DATA_AT + 6]));
        uint48 validAfter = uint48(bytes6(data[DATA_AT + 6:SIGNATURE_AT]));
        return ("", uint256(validUntil) << 160 | uint256(validAfter) << 208);
    }
}
