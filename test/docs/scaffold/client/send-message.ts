/** A server function of React, which the page of limits over fetch calls. */
interface Sent {
  sent: number;
}

export async function sendMessage(state: Sent, form: FormData): Promise<Sent> {
  return { sent: state.sent + Number(form.has("text")) };
}
