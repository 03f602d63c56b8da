import { Controller, Module, Post } from "@nestjs/common";
import { RateLimited } from "./rate-limited.js";

@Controller("messages")
class MessagesController {
  @Post()
  @RateLimited("sendMessage")
  send(): string {
    return "sent";
  }
}

@Module({ controllers: [MessagesController] })
export class AppModule {}
