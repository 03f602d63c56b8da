import type { IncomingMessage } from "node:http";

export declare function userIdOf(headers: Headers): Promise<string>;
export declare function sessionOf(request: IncomingMessage): Promise<string>;
export declare function currentUserId(): Promise<string>;
export declare function saveMessage(userId: string, text: string): Promise<{ id: string }>;
