// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IAccountFactory} from "./Types.sol";

/// The factory that user operations name. It passes on to a factory from a list fixed at construction.
contract MetaFactory {
    error NotApproved(address factory);

    mapping(address factory => bool) public approved;

    constructor(address[] memory factories) {
        for (uint256 i; i < factories.length; ++i) {
            approved[factories[i]] = true;
        }
    }

    function deployWithFactory(address factory, bytes calldata createData, bytes32 salt)
        external
        payable
        returns (address)
    {
        if (!approved[factory]) revert NotApproved(factory);
        return IAccountFactory(factory).createAccount{value: msg.value}(createData, salt);
    }
}
